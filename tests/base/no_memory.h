/* Files in memory that cannot be opened: sluice_tests has an open_memstream() of its own (output_test.c), which fails once
 * a test has said so. */
#ifndef SLUICE_TESTS_BASE_NO_MEMORY_H
#define SLUICE_TESTS_BASE_NO_MEMORY_H

#include <stdbool.h>

extern bool no_memory_for_files;

#endif
