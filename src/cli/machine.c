#include "cli/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* The parameter that would have to choose the policy of `unused`: its key and value; false if there is none. */
static bool find_choice(const struct config *config, const struct config_entry *unused, struct config_entry *choice) {
    char path[sizeof unused->key];
    snprintf(path, sizeof path, "%s", unused->key);
    *strrchr(path, '.') = '\0'; /* llc.adaptive */
    char *policy = strrchr(path, '.');
    if (!policy) return false;
    *policy++ = '\0'; /* llc, adaptive */
    for (unsigned i = 0; i < config_entry_count(config); i++) {
        config_entry_at(config, i, choice);
        size_t length = strlen(path);
        if (choice->param->type != PARAM_CHOICE || strncmp(choice->key, path, length) != 0 ||
            choice->key[length] != '.' || strchr(choice->key + length + 1, '.'))
            continue;
        for (unsigned m = 0; m < choice->param->family->count; m++)
            if (strcmp(choice->param->family->members[m]->name, policy) == 0) return true;
    }
    return false;
}

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
        else if (!used && find_choice(configs[0], &entry, &choice))
            complain(NULL, "warning: --set %s has no effect: %s is %s", entry.key, choice.key, choice.value);
        else if (!used)
            complain(NULL, "warning: --set %s has no effect", entry.key);
    }
}
