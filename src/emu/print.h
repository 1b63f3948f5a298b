/* C's formatted output with format, strings and arguments in device memory. Arguments are consecutive, each at a
 * multiple of its size: int and unsigned 4 bytes; long, long long, pointers and double 8. */
#ifndef SLUICE_EMU_PRINT_H
#define SLUICE_EMU_PRINT_H

#include "base/base.h"

enum { PRINT_TEXT_BYTES = 8192 }; /* limit per call; longer output is truncated */

typedef bool print_reader(void *user, uint64_t address, void *data, unsigned bytes);

/* Writes the text, truncated to fit and zero-terminated; returns the number of arguments used, or -1 if memory could
 * not be read at `bad`. */
int print_format(print_reader *read, void *user, uint64_t format, uint64_t arguments, char text[PRINT_TEXT_BYTES],
                 uint64_t *bad);

#endif
