/* C's formatted output, with format, strings and arguments in the device's memory. Arguments lie one behind the other,
 * each at a multiple of its size: int and unsigned 4 bytes, long, long long, pointers and double 8. */
#ifndef SLUICE_EMU_PRINT_H
#define SLUICE_EMU_PRINT_H

#include "base/base.h"

enum { PRINT_TEXT_BYTES = 8192 }; /* longer output of one call is cut */

typedef bool print_reader(void *user, uint64_t address, void *data, unsigned bytes);

/* Puts the text, cut to fit and ended by a zero; how many arguments were used. -1 if memory could not be read, at
 * `bad`. */
int print_format(print_reader *read, void *user, uint64_t format, uint64_t arguments, char text[PRINT_TEXT_BYTES],
                 uint64_t *bad);

#endif
