/* Reads and writes of a part of a file that the kernel may serve in pieces. */
#ifndef SLUICE_BASE_FILE_H
#define SLUICE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes read. It is smaller than `bytes` at the end of the file, with errno 0, and after an error,
 * with its errno. */
size_t file_read_at(int file, void *to, size_t bytes, uint64_t offset);

/* False if not everything could be written. */
bool file_write_at(int file, const void *from, size_t bytes, uint64_t offset);

#endif
