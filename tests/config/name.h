/* The `name:` of a description. */
#ifndef SLUICE_TESTS_CONFIG_NAME_H
#define SLUICE_TESTS_CONFIG_NAME_H

#include "config/store.h"

static inline const char *config_name(const struct config *config) { return config->meta[META_NAME]; }

#endif
