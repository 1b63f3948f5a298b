/* User errors. The library neither prints nor exits: a function that can fail on input takes a `struct error *`, fills
 * it and returns false or NULL. The first error is kept; later ones on the same object are usually consequences of it
 * and are dropped. */
#ifndef SLUICE_BASE_ERROR_H
#define SLUICE_BASE_ERROR_H

#include <stdbool.h>

struct error {
    bool set;
    char text[1536]; /* "file:line:column: problem and fix", without a trailing newline */
};

/* Always returns false, so that callers can `return error_set(err, ...)`. */
bool error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_at(struct error *err, const char *file, unsigned line, unsigned column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
