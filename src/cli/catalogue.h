/* Where bundled descriptions are: folders gpus/ and designs/ of YAML files. */
#ifndef SLUICE_CLI_CATALOGUE_H
#define SLUICE_CLI_CATALOGUE_H

#include "cli/command.h"
#include "config/config.h"

struct catalogue_entry {
    char *name; /* the file's name without .yaml */
    char *path;
};

struct catalogue {
    unsigned count;
    struct catalogue_entry *entries; /* by name */
};

/* `folder` is "gpus" or "designs". */
void catalogue_open(struct catalogue *catalogue, const char *folder);
void catalogue_close(struct catalogue *catalogue);

/* The options by which a machine is chosen; a command that has them embeds this struct and MACHINE_OPTIONS. */
struct machine_options {
    const char *gpu, *design;
    struct text_list settings;
};

#define DEFAULT_GPU "adaptive-80sm"

#define MACHINE_OPTIONS(values, field) \
    {"--gpu", "NAME|FILE", OPTION_TEXT, offsetof(struct values, field.gpu), \
     "the GPU description: a bundled one by name (`sluice list gpus`), or a YAML file; " DEFAULT_GPU \
     " if none is given"}, \
        {"--design", "NAME|FILE", OPTION_TEXT, offsetof(struct values, field.design), \
         "a named set of choices (`sluice list designs`), or a YAML file, on top of the GPU description"}, \
    { \
        "--set", "KEY=VALUE", OPTION_LIST, offsetof(struct values, field.settings), \
            "sets one parameter (`sluice list parameters`) on top of both; may be repeated" \
    }

/* The checked configuration, or NULL with an error. */
struct config *machine_config(const struct machine_options *options, struct error *err);

#endif
