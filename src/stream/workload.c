#include "stream/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/synth.h"

#define SYNTH(ops) extern const struct synth_ops ops;
#include "stream/synths.def"
#undef SYNTH

static const struct synth_ops *const synths[] = {
#define SYNTH(ops) &ops,
#include "stream/synths.def"
#undef SYNTH
};

static bool check_section(const struct config *config, struct error *err) {
    const struct workload_config *given = config_get(config, &workload_section);
    double kb = given->footprint_mb * 1024;
    if (given->footprint_mb != 0 && given->footprint_kb != 0)
        return config_error(config, "workload.footprint_mb", err,
                            "workload.footprint_kb is also given: give only one of them");
    if (kb != floor(kb))
        return config_error(config, "workload.footprint_mb", err,
                            "%g MB is not a multiple of 1 KB: use workload.footprint_kb", given->footprint_mb);
    return true;
}

static const struct param params[] = {
#define X(name, own, least, most, unit, help) P_INT(struct workload_config, name, own, least, most, unit, help),
    WORKLOAD_PARAMS(X)
#undef X
        P_REAL(struct workload_config, footprint_mb, 0, 0, 3328, "MB",
               "footprint_kb in MB; 0: workload default, or footprint_kb"),
    P_BOOL(struct workload_config, cache_global, false, "loads bypass the L1"),
};

const struct section workload_section = {
    .path = "workload",
    .help = "generated workloads (synth:NAME)",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct workload_config),
    .check = check_section,
};

/* "ctas=640 warps=8 ...": the parameters of a workload, with or without their defaults. */
static void describe(const struct synth_ops *ops, bool values, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
#define X(name, own_, least, most, unit, help) \
    if (ops->own.name != 0 && used < size) { \
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? (values ? " " : ", ") : "", #name); \
        if (values && used < size) \
            used += (size_t)snprintf(text + used, size - used, "=%lld", (long long)ops->own.name); \
    }
    WORKLOAD_PARAMS(X)
#undef X
}

static bool refuse(const struct config *config, const struct synth_ops *ops, const char *param, struct error *err) {
    char key[64], has[256];
    snprintf(key, sizeof key, "workload.%s", param);
    describe(ops, false, has, sizeof has);
    return config_error(config, key, err, "synth:%s has no such parameter; known: %s", ops->name, has);
}

/* The given value of each parameter that the workload has, or its default. */
static bool resolve(const struct config *config, const struct synth_ops *ops, struct workload_config *resolved,
                    struct error *err) {
    struct workload_config given = *(const struct workload_config *)config_get(config, &workload_section);
    if (given.footprint_mb != 0) {
        if (ops->own.footprint_kb == 0) return refuse(config, ops, "footprint_mb", err);
        given.footprint_kb = (int64_t)(given.footprint_mb * 1024);
    }
    if (given.cache_global && !ops->address) return refuse(config, ops, "cache_global", err);
    *resolved = ops->own;
#define X(name, own_, least, most, unit, help) \
    if (given.name != (own_)) { \
        if (ops->own.name == 0) return refuse(config, ops, #name, err); \
        resolved->name = given.name; \
    }
    WORKLOAD_PARAMS(X)
#undef X
    resolved->cache_global = given.cache_global;
    return true;
}

static const char synth_prefix[] = "synth:";

static bool unknown(const char *name, struct error *err) {
    char *full[COUNT_OF(synths)];
    const char *names[COUNT_OF(synths)];
    for (size_t i = 0; i < COUNT_OF(synths); i++)
        names[i] = full[i] = text_format("%s%s", synth_prefix, synths[i]->name);
    const char *bare[COUNT_OF(synths)];
    for (size_t i = 0; i < COUNT_OF(synths); i++) bare[i] = synths[i]->name;
    const char *near = nearest_name(name, names, COUNT_OF(synths)),
               *near_bare = nearest_name_within(name, bare, COUNT_OF(synths), strlen(name) < 6 ? 1 : 2);
    if (near)
        error_set(err, "there is no workload `%s`; did you mean `%s`?", name, near);
    else if (near_bare)
        error_set(err, "there is no workload `%s`; did you mean `%s%s`?", name, synth_prefix, near_bare);
    else
        error_set(err, "there is no workload `%s`; see `sluice list workloads`", name);
    for (size_t i = 0; i < COUNT_OF(synths); i++) free(full[i]);
    return false;
}

struct stream_source *workload_open(const struct config *config, const char *name, struct error *err) {
    size_t prefix = strlen(synth_prefix);
    for (size_t i = 0; i < COUNT_OF(synths) && strncmp(name, synth_prefix, prefix) == 0; i++) {
        const struct synth_ops *ops = synths[i];
        size_t length = strlen(ops->name);
        if (strncmp(name + prefix, ops->name, length) != 0) continue;
        if (name[prefix + length] == ':') {
            error_set(err, "synth:%s has no sizes: remove `%s` and set workload.iterations instead", ops->name,
                      name + prefix + length);
            return NULL;
        }
        if (name[prefix + length] != '\0') continue;
        struct workload_config resolved;
        return resolve(config, ops, &resolved, err) ? synth_create(config, ops, &resolved, err) : NULL;
    }
    unknown(name, err);
    return NULL;
}

uint64_t workload_warp_instructions(const struct stream_source *source) { return synth_warp_instructions(source); }

unsigned workload_count(void) { return COUNT_OF(synths); }

void workload_info_at(unsigned index, struct workload_info *info) {
    assert(index < COUNT_OF(synths));
    snprintf(info->name, sizeof info->name, "%s%s", synth_prefix, synths[index]->name);
    info->help = synths[index]->help;
    describe(synths[index], true, info->parameters, sizeof info->parameters);
}
