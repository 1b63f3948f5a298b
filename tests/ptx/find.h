/* Finds a function of a module by name. */
#ifndef SLUICE_TESTS_PTX_FIND_H
#define SLUICE_TESTS_PTX_FIND_H

#include <string.h>

#include "ptx/module.h"

/* PTX_NONE if there is none. */
static inline uint32_t ptx_find_function(const struct ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i].name, name) == 0) return i;
    return PTX_NONE;
}

#endif
