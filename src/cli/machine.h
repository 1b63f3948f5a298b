/* The options that select a machine; a command with them embeds this struct and MACHINE_OPTIONS. */
#ifndef SLUICE_CLI_MACHINE_H
#define SLUICE_CLI_MACHINE_H

#include "cli/command.h"
#include "config/catalogue.h"

struct machine_options {
    const char *gpu, *design;
    struct text_list settings;
    bool latency; /* observe the latencies of loads */
};

#define MACHINE_OPTIONS(values, field) \
    {"--gpu", "NAME|FILE", OPTION_TEXT, offsetof(struct values, field.gpu), \
     "GPU description: a bundled one (`sluice list gpus`) or a YAML file; default: " DEFAULT_GPU}, \
        {"--design", "NAME|FILE", OPTION_TEXT, offsetof(struct values, field.design), \
         "design: a named set of parameters (`sluice list designs`) or a YAML file, applied on top of the GPU" \
         " description"}, \
    { \
        "--set", "KEY=VALUE", OPTION_LIST, offsetof(struct values, field.settings), \
            "set one parameter (`sluice list parameters`), overriding GPU description and design; repeatable" \
    }

#define LATENCY_OPTION(values, field) \
    { \
        "--latency", NULL, OPTION_FLAG, offsetof(struct values, field.latency), \
            "attribute the cycles of every load to levels and stages (gpu.observe_latency; docs/latency.md), and print the" \
            " breakdown" \
    }

/* Warns about --set of parameters that none of the configurations uses: those of a policy that is not chosen, and those of
 * generated streams if the program is not `generated`. */
void machine_warn_unused(const struct config *const *configs, unsigned count, bool generated);

/* The checked configuration, or NULL with an error. */
struct config *machine_config(const struct machine_options *options, struct error *err);

#endif
