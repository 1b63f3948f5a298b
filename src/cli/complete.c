/* `sluice complete`: how a command line can go on, for the completion of shells (completions/).
 *
 * Candidates come from the tables that also drive parsing and help: commands, options, the words of a synopsis, and the names of
 * bundled GPUs, designs, workloads, experiments, parameters, counters and metrics. No candidates: the shell completes file names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/machine.h"
#include "gpu/machine.h"
#include "stream/workload.h"
#include "work.h"

/* A candidate per line, with its description after a tab. `prefix` precedes the candidate and `end` follows it. */
struct listing {
    const char *word, *prefix, *end; /* only candidates that begin with `word` */
};

static void offer(const struct listing *listing, const char *name, size_t length, const char *help) {
    size_t given = strlen(listing->word);
    if (given > length || strncmp(name, listing->word, given) != 0) return;
    printf("%s%.*s%s%s%s\n", listing->prefix, (int)length, name, listing->end, *help ? "\t" : "", help);
}

static void offer_name(const struct listing *listing, const char *name, const char *help) {
    offer(listing, name, strlen(name), help);
}

/* --- names --- */

static void offer_bundled(const struct listing *listing, const char *folder) {
    struct catalogue catalogue;
    catalogue_open(&catalogue, folder);
    for (unsigned i = 0; i < catalogue.count; i++) offer_name(listing, catalogue.entries[i].name, "");
    catalogue_close(&catalogue);
}

static void offer_gpus(const struct listing *listing) { offer_bundled(listing, "gpus"); }
static void offer_designs(const struct listing *listing) { offer_bundled(listing, "designs"); }
static void offer_experiments(const struct listing *listing) { offer_bundled(listing, "experiments"); }

/* Sizes once the colon is there. */
static void offer_workloads(const struct listing *listing) {
    const char *colon = strchr(listing->word, ':');
    for (unsigned i = 0; i < workload_total; i++) {
        const struct workload *workload = workloads[i];
        if (!colon) offer_name(listing, workload->name, workload->help);
        for (unsigned k = 0; colon && k < workload->size_count; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s:%s", workload->name, workload->sizes[k].name);
            offer_name(listing, name, "");
        }
    }
    for (unsigned i = 0; i < workload_count(); i++) {
        struct workload_info info;
        workload_info_at(i, &info);
        offer_name(listing, info.name, info.help);
    }
}

/* KEY=, and the values of a choice behind it. */
static void offer_settings(const struct listing *listing) {
    struct config *config = config_create(config_sections, config_section_count);
    const char *equal = strchr(listing->word, '=');
    struct listing keys = {listing->word, listing->prefix, "="};
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        struct config_entry entry;
        config_entry_at(config, i, &entry);
        if (!equal) {
            offer_name(&keys, entry.key, entry.param->help);
        } else if (strlen(entry.key) == (size_t)(equal - listing->word) &&
                   strncmp(entry.key, listing->word, strlen(entry.key)) == 0 && entry.param->type == PARAM_CHOICE) {
            char *prefix = text_format("%s%s=", listing->prefix, entry.key);
            struct listing values = {equal + 1, prefix, ""};
            for (unsigned k = 0; k < entry.param->family->count; k++)
                offer_name(&values, entry.param->family->members[k]->name, "");
            free(prefix);
        }
    }
    config_destroy(config);
}

/* a,b,c: the last of them. */
static void offer_design_list(const struct listing *listing) {
    const char *comma = strrchr(listing->word, ',');
    char *prefix = text_format("%s%.*s", listing->prefix, comma ? (int)(comma + 1 - listing->word) : 0, listing->word);
    struct listing last = {comma ? comma + 1 : listing->word, prefix, ""};
    offer_designs(&last);
    free(prefix);
}

/* Counters of the default GPU; other organisations have more. */
static void offer_counters(const struct listing *listing) {
    struct error err = {0};
    struct machine_options none = {0};
    struct config *config = machine_config(&none, &err);
    struct machine *machine = config ? machine_create(config, &err) : NULL;
    for (unsigned i = 0; machine && i < stats_count(machine_stats(machine)); i++) {
        char name[128];
        stats_name(machine_stats(machine), i, name, sizeof name);
        offer_name(listing, name, stats_stat(machine_stats(machine), i)->help);
    }
    if (machine) machine_destroy(machine);
    if (config) config_destroy(config);
}

static void offer_metrics(const struct listing *listing) {
#define METRIC(name, ours, theirs, whole, share, bound, mean_bound) offer_name(listing, name, "");
#include "cli/correlate.def"
#undef METRIC
}

/* The names that an option, or the arguments of a command, take. */
static const struct {
    const char *where;
    void (*offer)(const struct listing *listing);
} names[] = {
    {"--gpu", offer_gpus},
    {"--design", offer_designs},
    {"--designs", offer_design_list},
    {"--set", offer_settings},
    {"--sample-units", offer_counters},
    {"--counter", offer_counters},
    {"--metric", offer_metrics},
    {"run", offer_workloads},
    {"compare", offer_workloads},
    {"record", offer_workloads},
    {"report", offer_experiments},
    {"lab", offer_experiments},
    {"reproduce", offer_experiments},
};

static void offer_names(const struct listing *listing, const char *where) {
    for (unsigned i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i].where, where) == 0) names[i].offer(listing);
}

/* --- commands and options --- */

static const struct option errors = {"--errors", "text|json", OPTION_TEXT, 0,
                                     "print error messages as text, or as JSON objects"}; /* of every command */

static const struct option *option_of(const struct command *command, const char *name, size_t length) {
    if (strlen(errors.name) == length && strncmp(errors.name, name, length) == 0) return &errors;
    for (unsigned i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == length && strncmp(command->options[i].name, name, length) == 0)
            return &command->options[i];
    return NULL;
}

/* The words between bars. */
static void offer_choices(const struct listing *listing, const char *choices, size_t length) {
    for (const char *next, *end = choices + length; choices < end; choices = next + 1) {
        next = choices + strcspn(choices, "|");
        next = next < end ? next : end;
        offer(listing, choices, (size_t)(next - choices), "");
    }
}

/* The values of an option: names, or the choices of an argument like "text|json", which are in small letters. */
static void offer_values(const struct listing *listing, const char *option, const char *argument) {
    offer_names(listing, option);
    if (strspn(argument, "abcdefghijklmnopqrstuvwxyz|") == strlen(argument))
        offer_choices(listing, argument, strlen(argument));
}

/* The words of a synopsis like "lab run|status|export ..."; false if it does not begin with such words. */
static bool offer_words(const struct listing *listing, const struct command *command) {
    const char *word = command->synopsis + strcspn(command->synopsis, " ");
    word += strspn(word, " ");
    const char *end = word + strcspn(word, " ");
    if (*word < 'a' || *word > 'z' || !memchr(word, '|', (size_t)(end - word))) return false;
    offer_choices(listing, word, (size_t)(end - word));
    return true;
}

static void offer_commands(const struct listing *listing) {
    for (unsigned i = 0; i < command_count; i++) offer_name(listing, commands[i]->name, commands[i]->summary);
}

static void offer_options(const struct listing *listing, const struct command *command) {
    for (unsigned i = 0; i < command->option_count; i++)
        offer_name(listing, command->options[i].name, command->options[i].help);
    offer_name(listing, "--help", "describe the command");
    offer_name(listing, errors.name, errors.help);
}

/* How many of the words are arguments of the command, not options nor their values. */
static unsigned argument_count(const struct command *command, const char *const *word, unsigned count) {
    unsigned arguments = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct option *option = option_of(command, word[i], strlen(word[i]));
        if (option)
            i += option->argument != NULL;
        else
            arguments += word[i][0] != '-';
    }
    return arguments;
}

static void offer_next(const struct command *command, const char *const *word, unsigned count) {
    const char *last = word[count - 1], *equal = strchr(last, '=');
    const struct option *before = count > 1 ? option_of(command, word[count - 2], strlen(word[count - 2])) : NULL;
    const struct listing listing = {last, "", ""};
    if (before && before->argument) {
        offer_values(&listing, before->name, before->argument);
    } else if (last[0] == '-' && equal) {
        const struct option *option = option_of(command, last, (size_t)(equal - last));
        char *prefix = text_format("%.*s", (int)(equal + 1 - last), last);
        const struct listing value = {equal + 1, prefix, ""};
        if (option && option->argument) offer_values(&value, option->name, option->argument);
        free(prefix);
    } else if (last[0] == '-') {
        offer_options(&listing, command);
    } else if (strcmp(command->name, "help") == 0) {
        offer_commands(&listing);
    } else if (argument_count(command, word, count - 1) > 0 || !offer_words(&listing, command)) {
        offer_names(&listing, command->name);
    }
}

static enum status complete(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, NULL, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0)
        return complain(command, "missing words: `sluice complete -- run --gpu fer` completes the last of them");
    const struct command *about = arguments.count > 1 ? command_find(arguments.word[0]) : NULL;
    if (about)
        offer_next(about, arguments.word + 1, arguments.count - 1);
    else if (arguments.count == 1)
        offer_commands(&(struct listing){arguments.word[0], "", ""});
    return STATUS_DONE;
}

static const char *const details[] = {
    "Prints how the last of the words can be completed, one candidate per line, with a description after a tab: commands,"
    " options and their values, and names of GPUs, designs, workloads, experiments, parameters and counters. WORD... is a command line without"
    " `sluice`; the last word may be empty. The scripts for bash, zsh and fish in completions/ call it.",
    NULL,
};

static const struct example examples[] = {
    {"sluice complete -- run mm --gpu fer", "complete the name of a GPU"},
};

const struct command command_complete = {
    .name = "complete",
    .synopsis = "complete -- WORD...",
    .summary = "completes a command line, for shells",
    .details = details,
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = complete,
};
