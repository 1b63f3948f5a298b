/* `sluice overhead`: storage and area that a design adds to a baseline GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "base/output.h"
#include "cli/machine.h"
#include "energy/overhead.h"

struct overhead_values {
    struct machine_options machine;
    const char *json;
};

static const struct option options[] = {
    MACHINE_OPTIONS(overhead_values, machine),
    {"--json", "FILE", OPTION_TEXT, offsetof(struct overhead_values, json),
     "write the table as JSON (`-`: standard output, without the table)"},
};

static void write_sum(const char *section, const char *what, double bytes, double mm2) {
    printf("  %-14s %-56s %7s %8s %5s %10.0f %9.6f\n", section, what, "", "", "", bytes, mm2);
}

/* One row per item, a subtotal for sections with several items, and the total. */
static void write_storage(const struct overhead *overhead) {
    printf("  %-14s %-56s %7s %8s %5s %10s %9s\n", "section", "storage", "count", "entries", "bits", "bytes", "mm2");
    double bytes = 0, mm2 = 0;
    for (unsigned i = 0, first = 0; i < overhead->rows; i++) {
        const struct overhead_row *row = &overhead->row[i];
        printf("  %-14s %-56s %7" PRIu64 " %8" PRIu64 " %5" PRIu64 " %10.0f %9.6f\n", row->section, row->item.what,
               row->item.copies, row->item.entries, row->item.bits, row->bytes, row->mm2);
        bytes += row->bytes;
        mm2 += row->mm2;
        if (i + 1 < overhead->rows && strcmp(row[1].section, row->section) == 0) continue;
        if (i > first) write_sum(row->section, "subtotal", bytes, mm2);
        bytes = mm2 = 0;
        first = i + 1;
    }
    write_sum("total", overhead->rows ? "" : "none", overhead->bytes, overhead->mm2);
}

static void write_table(const struct overhead *overhead, const struct overhead_values *values) {
    const struct machine_options *machine = &values->machine;
    printf("%s on %s\n\n", machine->design ? machine->design : "default", machine->gpu ? machine->gpu : DEFAULT_GPU);
    write_storage(overhead);
    if (overhead->llc_tag_bytes > 0)
        printf("\n  LLC tags grow by %.2f %% of the LLC capacity (%.0f KB)\n",
               100 * overhead->llc_tag_bytes / overhead->llc_bytes, overhead->llc_bytes / 1024);
    if (overhead->crossbar_mm2 > 0)
        printf("  crossbars between slices and channels: %.2f mm2, links: %.2f mm2\n", overhead->crossbar_mm2,
               overhead->link_mm2);
    printf("  leakage: %.3f mW; total area: %.4f %% of the die\n", overhead->leak_mw, 100 * overhead->die_share);
}

static void write_json(FILE *out, const void *what) {
    const struct overhead *overhead = what;
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_key(&json, "storage");
    json_array(&json);
    for (unsigned i = 0; i < overhead->rows; i++) {
        const struct overhead_row *row = &overhead->row[i];
        json_object_compact(&json);
        json_put_text(&json, "section", row->section);
        json_put_text(&json, "what", row->item.what);
        json_put_unsigned(&json, "copies", row->item.copies);
        json_put_unsigned(&json, "entries", row->item.entries);
        json_put_unsigned(&json, "bits", row->item.bits);
        json_put_real(&json, "bytes", row->bytes);
        json_put_real(&json, "mm2", row->mm2);
        json_put_real(&json, "leak_mw", row->leak_mw);
        json_end(&json);
    }
    json_end(&json);
    json_put_real(&json, "bytes", overhead->bytes);
    json_put_real(&json, "mm2", overhead->mm2);
    json_put_real(&json, "leak_mw", overhead->leak_mw);
    json_put_real(&json, "llc_tag_growth", overhead->llc_tag_bytes / overhead->llc_bytes);
    json_put_real(&json, "crossbar_mm2", overhead->crossbar_mm2);
    json_put_real(&json, "crossbar_link_mm2", overhead->link_mm2);
    json_put_real(&json, "die_share", overhead->die_share);
    json_end(&json);
    json_finish(&json);
}

static enum status overhead_run(const struct command *command, int argc, char **argv) {
    struct overhead_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.help) return help_print(command), STATUS_DONE;
    if (arguments.count) return complain(command, "unexpected argument `%s`", arguments.word[0]);
    struct error err = {0};
    if (values.json && !output_check(values.json, &err)) return complain_error(&err);
    struct config *config = machine_config(&values.machine, &err);
    struct energy_model *model = config ? energy_open(config, &err) : NULL;
    enum status status = STATUS_DONE;
    if (model) {
        struct overhead overhead;
        overhead_of(config, model, &overhead);
        if (!values.json || values.json[0] != '-' || values.json[1]) write_table(&overhead, &values);
        if (values.json && !output_write(values.json, write_json, &overhead, &err))
            status = (complain_error(&err), STATUS_FAILED);
    } else {
        status = complain_error(&err);
    }
    free(model);
    if (config) config_destroy(config);
    return status;
}

static const char *const details[] = {
    "Lists the storage that a design adds to a baseline GPU, item by item, with its area and leakage power; the growth"
    " of the LLC tags if a line can be in any slice of its memory controller; and the area of the crossbars that"
    " connect all slices of a controller with all of its channels. docs/energy.md documents the models.",
    NULL,
};

static const struct example examples[] = {
    {"sluice overhead --design adaptive",
     "list 432 bytes of tag directory, 16 and 128 bytes of counters, and larger LLC tags"},
    {"sluice overhead --gpu fermi-15sm --design decoupled --set energy.array=array-45nm",
     "use the 45 nm technology of the paper"},
};

const struct command command_overhead = {
    .name = "overhead",
    .synopsis = "overhead [OPTIONS]",
    .summary = "reports the storage and area overhead of a design",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = overhead_run,
};
