/* How a user's mistake travels back to whoever can show it. The library neither prints nor exits: a
 * function that can fail on input takes a `struct error *` and returns false or NULL after filling it.
 * The first error wins; later ones on the same object are dropped, because they are usually its echo. */
#ifndef SLUICE_BASE_ERROR_H
#define SLUICE_BASE_ERROR_H

#include <stdbool.h>

struct error {
    bool set;
    char text[1536]; /* "file:line:column: what, and what would be right", without a newline at the end */
};

/* Always returns false, so that `return error_set(err, ...)` reads well. */
bool error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_at(struct error *err, const char *file, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
