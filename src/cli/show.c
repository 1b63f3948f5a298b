/* `sluice show gpu NAME`: the complete configuration, with every default. */
#include <stdio.h>
#include <string.h>

#include "cli/machine.h"

struct show_values {
    const char *design;
    struct text_list settings;
};

static const struct option options[] = {
    {"--design", "NAME|FILE", OPTION_TEXT, offsetof(struct show_values, design), "apply this design"},
    {"--set", "KEY=VALUE", OPTION_LIST, offsetof(struct show_values, settings), "set one parameter; repeatable"},
};

static enum status show(const struct command *command, int argc, char **argv) {
    struct show_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0 || strcmp(arguments.word[0], "gpu") != 0)
        return complain(command, "only GPUs can be shown: sluice show gpu NAME%s%s", arguments.count ? ", not " : "",
                        arguments.count ? arguments.word[0] : "");
    if (arguments.count != 2) return complain(command, "one GPU expected: sluice show gpu NAME");
    struct error err = {0};
    struct machine_options machine = {.gpu = arguments.word[1], .design = values.design, .settings = values.settings};
    struct config *config = machine_config(&machine, &err);
    if (!config) return complain_error(&err);
    config_write_yaml(config, true, stdout);
    config_destroy(config);
    return STATUS_DONE;
}

static const char *const details[] = {
    "Prints the complete configuration of a GPU as YAML: every parameter with its value, unit and origin. --gpu accepts"
    " the output as a GPU description.",
    NULL,
};

static const struct example examples[] = {
    {"sluice show gpu fermi-15sm", "print every parameter of a bundled GPU"},
};

const struct command command_show = {
    .name = "show",
    .synopsis = "show gpu NAME|FILE [OPTIONS]",
    .summary = "prints the complete configuration of a GPU",
    .details = details,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .examples = examples,
    .example_count = 1,
    .run = show,
};
