#include "cli/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

void machine_warn_unused(const struct config *const *configs, unsigned count, bool generated) {
    for (unsigned i = 0; i < config_entry_count(configs[0]); i++) {
        struct config_entry entry, choice;
        bool set = false, used = false;
        for (unsigned c = 0; c < count; c++) {
            config_entry_at(configs[c], i, &entry);
            set |= strcmp(entry.origin, "--set") == 0;
            used |= entry.in_use;
        }
        if (!set) continue;
        if (strncmp(entry.key, "workload.", 9) == 0 && !generated)
            complain(NULL, "warning: --set %s has no effect: it is for generated streams (synth:NAME)", entry.key);
        else if (!used && config_find_choice(configs[0], &entry, &choice))
            complain(NULL, "warning: --set %s has no effect: %s is %s", entry.key, choice.key, choice.value);
        else if (!used)
            complain(NULL, "warning: --set %s has no effect", entry.key);
    }
}

struct config *machine_config(const struct machine_options *options, struct error *err) {
    const char *settings[TEXT_LIST_MAX + 1];
    unsigned count = options->settings.count;
    memcpy(settings, options->settings.text, count * sizeof *settings);
    if (options->latency) settings[count++] = "gpu.observe_latency=true";
    return config_build(options->gpu, options->design, settings, count, err);
}
