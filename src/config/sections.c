/* The top-level sections, from sections.def: adding a section is one line there. */
#include "base/base.h"
#include "config/config.h"

#define SECTION(name) extern const struct section name##_section;
#include "config/sections.def"
#undef SECTION

const struct section *const config_sections[] = {
#define SECTION(name) &name##_section,
#include "config/sections.def"
#undef SECTION
};

const unsigned config_section_count = COUNT_OF(config_sections);
