/* Profiled bypassing: a first run counts the reads of each line, and a second allocates the lines that were read often
 * enough ("Profiled-BYPASS" in Locality-Driven Dynamic GPU Cache Bypassing, ICS 2015, section 6.1).
 *
 * `record` is the file that a run writes, `profile` the one that it uses; without a profile every read miss allocates.
 * Counts are kept per kernel, for each SM (local) and for all SMs (global). A line is allocated if either enabled count
 * reaches the threshold: the paper does not specify how its combined filter combines the two, but argues that bypassing
 * moves CTAs, which turns the reuse of one SM into that of another. A line not in the profile has count 0. Reads count
 * before they reach the cache; writes, atomics and reads with `bypass` set do not.
 */
#include <stdlib.h>

#include "base/output.h"
#include "l1/insertion.h"
#include "l1/profile.h"
#include "sim/gpu_config.h"

struct profiled_config {
    char profile[CONFIG_TEXT_MAX], record[CONFIG_TEXT_MAX];
    int64_t threshold;
    bool local, global;
};

static const struct param params[] = {
    P_TEXT(struct profiled_config, profile, "", "profile to use; none: every read miss allocates"),
    P_TEXT(struct profiled_config, record, "", "file to write this run's profile to; none: not written"),
    P_INT(struct profiled_config, threshold, 2, 1, 16, "reads", "reads of a line needed to allocate it"),
    P_BOOL(struct profiled_config, local, true, "apply the threshold to the reads of this SM"),
    P_BOOL(struct profiled_config, global, true, "apply the threshold to the reads of all SMs"),
};

static const struct section profiled_section;

static bool check(const struct config *config, struct error *err) {
    const struct profiled_config *values = config_get(config, &profiled_section);
    if (values->record[0] && !output_check(values->record, err)) return false;
    return values->local || values->global ||
           config_error(config, "l1.profiled.local", err,
                        "with neither local nor global counts no read allocates; use l1.insertion=never");
}

static const struct section profiled_section = {
    .path = "profiled",
    .help = "bypassing by the reuse in the profile of an earlier run",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct profiled_config),
    .check = check,
};

struct profiled {
    struct profile_shape shape;
    uint64_t threshold;
    bool local, global;
    struct profile *profile;             /* NULL: no profile */
    const struct profile_kernel *kernel; /* of the current kernel; NULL if the profile does not contain it */
    bool recording;
    struct output output;
    struct line_map *counts; /* [sms] of the current kernel */
    unsigned kernel_index;
};

static void profiled_destroy(void *state) {
    struct profiled *profiled = state;
    struct error ignored = {0};
    if (profiled->recording) output_close(&profiled->output, false, &ignored);
    for (unsigned sm = 0; sm < profiled->shape.sms; sm++) line_map_release(&profiled->counts[sm]);
    free(profiled->counts);
    profile_destroy(profiled->profile);
    free(profiled);
}

static void *profiled_create(const struct insertion_context *context, struct error *err) {
    const struct profiled_config *values = config_get(context->config, &profiled_section);
    const struct gpu_config *gpu = config_get(context->config, &gpu_section);
    struct profiled *profiled = mem_alloc(1, sizeof *profiled);
    *profiled = (struct profiled){
        .shape = {context->l1s, (unsigned)gpu->line_bytes},
        .threshold = (uint64_t)values->threshold,
        .local = values->local,
        .global = values->global,
        .counts = mem_alloc(context->l1s, sizeof *profiled->counts),
    };
    for (unsigned sm = 0; sm < context->l1s; sm++) line_map_init(&profiled->counts[sm]);
    bool good = true;
    if (values->profile[0]) good = (profiled->profile = profile_read(values->profile, profiled->shape, err)) != NULL;
    if (good && values->record[0]) good = profiled->recording = output_open(&profiled->output, values->record, err);
    if (profiled->recording) profile_write_head(profiled->output.file, profiled->shape);
    if (good) return profiled;
    profiled_destroy(profiled);
    return NULL;
}

/* Writes the counts of a completed kernel. */
static void put_down(struct profiled *profiled) {
    for (unsigned sm = 0; profiled->recording && sm < profiled->shape.sms; sm++) {
        profile_write_section(profiled->output.file, profiled->kernel_index, sm, &profiled->counts[sm]);
        line_map_clear(&profiled->counts[sm]);
    }
}

static void profiled_begin(void *state, unsigned kernel) {
    struct profiled *profiled = state;
    const struct profile *profile = profiled->profile;
    put_down(profiled);
    profiled->kernel_index = kernel;
    profiled->kernel = profile && kernel < profile->kernels ? &profile->kernel[kernel] : NULL;
}

static bool profiled_finish(void *state, struct error *err) {
    struct profiled *profiled = state;
    put_down(profiled);
    if (!profiled->recording) return true;
    profiled->recording = false;
    return output_close(&profiled->output, true, err);
}

static bool profiled_admit(void *state, unsigned sm, const struct cache_access *access) {
    const struct profiled *profiled = state;
    const struct profile_kernel *kernel = profiled->kernel;
    if (!profiled->profile) return true;
    return kernel && ((profiled->local && profile_reads(&kernel->sm[sm], access->key) >= profiled->threshold) ||
                      (profiled->global && profile_reads(&kernel->whole, access->key) >= profiled->threshold));
}

static void profiled_note(void *state, unsigned sm, const struct insertion_event *event) {
    struct profiled *profiled = state;
    if (profiled->recording) profile_count(&profiled->counts[sm], event->access->key, 1);
}

const struct insertion_ops insertion_profiled = {
    .policy = {"profiled", "allocates lines that were read often in an earlier run", &profiled_section},
    .create = profiled_create,
    .destroy = profiled_destroy,
    .admit = profiled_admit,
    .note = profiled_note,
    .begin = profiled_begin,
    .finish = profiled_finish,
};
