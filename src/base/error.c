#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static bool fill(struct error *err, int used, const char *format, va_list args) {
    vsnprintf(err->text + used, sizeof err->text - (size_t)used, format, args);
    err->set = true;
    return false;
}

bool error_set(struct error *err, const char *format, ...) {
    if (err->set) return false;
    va_list args;
    va_start(args, format);
    fill(err, 0, format, args);
    va_end(args);
    return false;
}

bool error_at(struct error *err, const char *file, unsigned line, unsigned column, const char *format, ...) {
    if (err->set) return false;
    int used = snprintf(err->text, sizeof err->text, "%.512s:%u:%u: ", file, line, column);
    va_list args;
    va_start(args, format);
    fill(err, used, format, args);
    va_end(args);
    return false;
}
