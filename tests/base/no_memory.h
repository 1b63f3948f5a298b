/* Makes opening files in memory fail: sluice_tests replaces open_memstream() (output_test.c) by one that fails once a
 * test requests it. */
#ifndef SLUICE_TESTS_BASE_NO_MEMORY_H
#define SLUICE_TESTS_BASE_NO_MEMORY_H

#include <stdbool.h>

extern bool no_memory_for_files;

#endif
