/* `sluice list`: lists GPUs, workloads, designs, experiments, parameters and counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/characterise.h"
#include "cli/machine.h"
#include "gpu/machine.h"
#include "lab/experiment.h"
#include "stream/workload.h"
#include "work.h"

struct list_values {
    struct machine_options machine;
    bool characterise, survey;
    const char *size;
    uint64_t max_insts;
};

static const struct option options[] = {
    MACHINE_OPTIONS(list_values, machine),
    {"--long", NULL, OPTION_FLAG, offsetof(struct list_values, characterise),
     "workloads: execute, verify, survey and simulate each workload, and print a table: launches, instructions, MB"
     " touched by several SMs, MB of shared data (touched by several SMs and read) and its read-only fraction, lines"
     " that several clusters access within 1,000 cycles (fraction of all lines, and rate), hit rates, bottleneck, CPU"
     " seconds"},
    {"--survey", NULL, OPTION_FLAG, offsetof(struct list_values, survey),
     "workloads: like --long without the simulation: faster, with `-` in the columns that need it"},
    {"--size", "SIZE", OPTION_TEXT, offsetof(struct list_values, size),
     "with --long and --survey: workload size; default: tiny"},
    {"--max-insts", "N", OPTION_COUNT, offsetof(struct list_values, max_insts),
     "with --long and --survey: end each workload after N thread instructions, without a check of its results"},
};

/* The description in a bundled file, or the error in it. The caller frees it. */
static char *describe_machine(const char *path) {
    struct config *config = config_create(config_sections, config_section_count);
    struct error err = {0};
    char *line = mem_text(config_read_file(config, path, &err) ? config_description(config) : err.text);
    config_destroy(config);
    return line;
}

static char *describe_experiment(const char *path) {
    struct error err = {0};
    struct experiment *experiment = experiment_read(path, &err);
    char *line = !experiment ? mem_text(err.text)
                 : *experiment->figure
                     ? text_format("%s (%s, %s)", experiment->title, experiment->paper, experiment->figure)
                     : mem_text(experiment->title);
    experiment_free(experiment);
    return line;
}

static enum status list_folder(const char *folder, char *(*describe)(const char *path)) {
    struct catalogue catalogue;
    catalogue_open(&catalogue, folder);
    int width = 0;
    for (unsigned i = 0; i < catalogue.count; i++)
        width = (int)max_u64((uint64_t)width, strlen(catalogue.entries[i].name));
    for (unsigned i = 0; i < catalogue.count; i++) {
        char *line = describe(catalogue.entries[i].path);
        printf("%-*s  %s\n", width, catalogue.entries[i].name, line);
        free(line);
    }
    bool good = !catalogue.unread.set;
    if (!good)
        complain_error(&catalogue.unread);
    else if (catalogue.count == 0)
        fprintf(stderr, "sluice list: no bundled %s found\n", folder);
    catalogue_close(&catalogue);
    return good ? STATUS_DONE : STATUS_FAILED;
}

static enum status list_gpus(const struct machine_options *options_, const char *filter) {
    (void)options_, (void)filter;
    return list_folder("gpus", describe_machine);
}

static enum status list_designs(const struct machine_options *options_, const char *filter) {
    (void)options_, (void)filter;
    return list_folder("designs", describe_machine);
}

static enum status list_experiments(const struct machine_options *options_, const char *filter) {
    (void)options_, (void)filter;
    return list_folder("experiments", describe_experiment);
}

static enum status list_workloads(const struct machine_options *options_, const char *filter) {
    (void)options_, (void)filter;
    puts("programs: NAME or NAME:SIZE (default size: small)");
    for (unsigned i = 0; i < workload_total; i++) {
        const struct workload *workload = workloads[i];
        printf("%-14s %s%s%s%s\n%-14s  ", workload->name, workload->help, workload->aliases ? " (also " : "",
               workload->aliases ? workload->aliases : "", workload->aliases ? ")" : "", "");
        for (unsigned k = 0; k < workload->size_count; k++) printf(" %s", workload->sizes[k].name);
        puts("");
    }
    puts("\ngenerated streams");
    for (unsigned i = 0; i < workload_count(); i++) {
        struct workload_info info;
        workload_info_at(i, &info);
        printf("%-14s %s\n%-14s   %s\n", info.name, info.help, "", info.parameters);
    }
    puts("\nThe values shown are defaults; --set workload.NAME=VALUE changes them.");
    return STATUS_DONE;
}

/* The range of a parameter: "1 to 64 cycles", "gto, lrr or two-level". */
static void print_domain(const struct param *param) {
    switch (param->type) {
    case PARAM_INT:
    case PARAM_REAL:
    case PARAM_LIST:
        printf("%.15g to %.15g%s%s", param->min, param->max, param->unit && param->unit[0] ? " " : "",
               param->unit ? param->unit : "");
        break;
    case PARAM_BOOL: printf("true or false"); break;
    case PARAM_TEXT: printf("text"); break;
    case PARAM_CHOICE:
        for (unsigned i = 0; i < param->family->count; i++)
            printf("%s%s",
                   i == 0                          ? ""
                   : i + 1 == param->family->count ? " or "
                                                   : ", ",
                   param->family->members[i]->name);
        break;
    }
}

static enum status list_parameters(const struct machine_options *machine, const char *filter) {
    struct error err = {0};
    struct config *config = machine_config(machine, &err);
    if (!config) return complain_error(&err);
    const struct section *section = NULL;
    unsigned shown = 0;
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        struct config_entry entry;
        config_entry_at(config, i, &entry);
        if (filter && !strstr(entry.key, filter)) continue;
        if (entry.section != section) {
            const char *dot = strrchr(entry.key, '.');
            printf("%s%.*s: %s\n", shown ? "\n" : "", dot ? (int)(dot - entry.key) : 0, entry.key, entry.section->help);
        }
        section = entry.section;
        shown++;
        printf("  %-30s %-14s %s (", entry.key, entry.value, entry.param->help);
        print_domain(entry.param);
        puts(")");
    }
    config_destroy(config);
    if (filter && shown == 0)
        return complain(NULL, "no parameter name contains `%s`; `sluice list parameters` lists them all", filter);
    return STATUS_DONE;
}

static enum status list_stats(const struct machine_options *options_, const char *filter) {
    struct error err = {0};
    struct config *config = machine_config(options_, &err);
    struct machine *machine = config ? machine_create(config, &err) : NULL;
    enum status status = STATUS_DONE;
    unsigned shown = 0;
    if (machine) {
        const struct stats *stats = machine_stats(machine);
        for (unsigned i = 0; i < stats_count(stats); i++) {
            char name[128];
            stats_name(stats, i, name, sizeof name);
            if (filter && !strstr(name, filter)) continue;
            const struct stat *stat = stats_stat(stats, i);
            printf("%-32s %-16s %s\n", name, stat->unit, stat->help);
            shown++;
        }
        if (filter && shown == 0)
            status = complain(NULL, "no counter name contains `%s`; `sluice list stats` lists them all", filter);
        machine_destroy(machine);
    } else {
        status = complain_error(&err);
    }
    if (config) config_destroy(config);
    return status;
}

static const struct {
    const char *name;
    bool takes_filter;
    enum status (*list)(const struct machine_options *options, const char *filter);
} things[] = {
    {"gpus", false, list_gpus},
    {"workloads", false, list_workloads},
    {"designs", false, list_designs},
    {"experiments", false, list_experiments},
    {"parameters", true, list_parameters},
    {"stats", true, list_stats},
};

static enum status list(const struct command *command, int argc, char **argv) {
    struct list_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count == 0)
        return complain(command, "missing argument: gpus, workloads, designs, experiments, parameters or stats");
    const char *names[COUNT_OF(things)];
    for (unsigned i = 0; i < COUNT_OF(things); i++) {
        names[i] = things[i].name;
        if (strcmp(arguments.word[0], things[i].name) != 0) continue;
        bool workloads_long = (values.characterise || values.survey) && things[i].list == list_workloads;
        if (arguments.count > (things[i].takes_filter || workloads_long ? 2u : 1u))
            return complain(command, "unexpected argument `%s`", arguments.word[arguments.count - 1]);
        if (workloads_long)
            return characterise(values.size ? values.size : "tiny", values.machine.gpu,
                                arguments.count > 1 ? arguments.word[1] : NULL, values.max_insts, !values.survey);
        if (values.max_insts) return complain(command, "--max-insts is for workloads with --long or --survey");
        return things[i].list(&values.machine, arguments.count > 1 ? arguments.word[1] : NULL);
    }
    char near[128];
    hint(arguments.word[0], names, COUNT_OF(names), near, sizeof near);
    return complain(command, "cannot list `%s`;%s", arguments.word[0],
                    near[0] ? near : " expected gpus, workloads, designs, experiments, parameters or stats");
}

static const char *const details[] = {
    "Lists the bundled GPU descriptions, workloads, designs or experiments, every parameter with its value and range,"
    " or every counter of a run, each with a one-line description.",
    "PART restricts the list to parameters or counters whose name contains it; with --long and --survey it names one"
    " workload. The options select the GPU whose parameters and counters are listed.",
    NULL,
};

static const struct example examples[] = {
    {"sluice list workloads", "list the bundled workloads and their parameters"},
    {"sluice list workloads --long", "characterise the workloads at their smallest size"},
    {"sluice list workloads --survey mm --size mm_0",
     "measure the data sharing of one workload at one size, without a simulation"},
    {"sluice list parameters llc", "list the parameters of the last-level cache"},
    {"sluice list stats dram", "list the DRAM counters"},
};

const struct command command_list = {
    .name = "list",
    .synopsis = "list gpus|workloads|designs|experiments|parameters|stats [PART] [OPTIONS]",
    .summary = "lists workloads, GPUs, designs, parameters, counters",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = list,
};
