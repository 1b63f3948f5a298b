#include "cli/launches.h"

#include <stdlib.h>

#include "base/base.h"
#include "cli/progress.h"
#include "host/checkpoint.h"
#include "host/source.h"
#include "stream/selection.h"

bool launches_range(const char *text, uint64_t *first, uint64_t *last) {
    char *end;
    if (text[0] < '0' || text[0] > '9') return false;
    *first = *last = strtoull(text, &end, 10);
    if (*end == '-' && end[1] == '\0') {
        *last = UINT64_MAX;
        return *first > 0;
    }
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') *last = strtoull(end + 1, &end, 10);
    return *end == '\0' && *first > 0 && *first <= *last;
}

bool launches_named(const struct command *command, const struct launch_options *options) {
    uint64_t first, last;
    if (options->kernels && !launches_range(options->kernels, &first, &last))
        return complain(command, "--kernels `%s`: expected A, A-B or A-, counted from 1", options->kernels), false;
    if ((options->kernels != NULL) + (options->skip > 0) + (options->sample > 0) > 1)
        return complain(command, "only one of --kernels, --skip-kernels and --sample-kernels can be given"), false;
    if ((options->checkpoint != NULL) + (options->restore != NULL) + (options->sample > 0) > 1)
        return complain(command, "only one of --checkpoint, --restore and --sample-kernels can be given"), false;
    return true;
}

/* The chosen launches, and before each the one that leaves it the contents of the caches. */
static void want_chosen(struct launches *launches) {
    const struct representative *chosen = launches->chosen;
    uint32_t last = chosen[launches->chosen_count - 1].launch;
    launches->last = last + UINT64_C(1);
    launches->wanted = mem_alloc(last + UINT64_C(1), sizeof *launches->wanted);
    for (uint32_t i = 0; i < launches->chosen_count; i++) {
        launches->wanted[chosen[i].launch] = true;
        if (chosen[i].launch) launches->wanted[chosen[i].launch - 1] = true;
    }
}

static bool reads_none(const void *user, uint64_t number) {
    (void)user, (void)number;
    return false;
}

static bool choose(struct launches *launches, uint64_t most, uint64_t max_insts, struct stream_source *probe,
                   struct error *err) {
    probe->patience = not_interrupted;
    probe->max_instructions = max_insts;
    probe->reads = reads_none; /* by a machine: one without an end is an error */
    bool good = profiles_take(probe, &launches->profiles, err);
    probe->patience = NULL;
    probe->reads = NULL;
    if (!good) return false;
    uint32_t room = (uint32_t)min_u64(most, launches->profiles.count);
    if (!room) return error_set(err, "the program launches no kernel");
    launches->chosen = mem_alloc(room, sizeof *launches->chosen);
    launches->chosen_count = representatives_choose(&launches->profiles, room, launches->chosen);
    want_chosen(launches);
    return true;
}

struct checkpoint *launches_checkpoint(const char *checkpoint, const char *restore, uint64_t *first, uint64_t last,
                                       struct error *err) {
    if (checkpoint && *first <= 1) {
        error_set(err,
                  "--checkpoint is written before the first timed launch: --kernels A-B must start behind launch 1");
        return NULL;
    }
    struct checkpoint *opened =
        checkpoint ? checkpoint_create(checkpoint, *first - 1, err) : checkpoint_open(restore, err);
    if (opened && checkpoint_launches(opened) >= last) {
        error_set(err, "%s has %llu launches; launch %llu, the last one to be timed, is one of them", restore,
                  (unsigned long long)checkpoint_launches(opened), (unsigned long long)last);
        checkpoint_destroy(opened);
        return NULL;
    }
    if (opened) *first = max_u64(*first, checkpoint_launches(opened) + 1);
    return opened;
}

bool launches_open(struct launches *launches, const struct launch_options *options, uint64_t max_insts,
                   struct stream_source *source, struct stream_source *probe, struct error *err) {
    *launches = (struct launches){.first = 1, .last = UINT64_MAX};
    bool saves = options->checkpoint || options->restore;
    if (!options->kernels && !options->skip && !options->sample && !saves) return true;
    if (options->kernels) launches_range(options->kernels, &launches->first, &launches->last);
    if (options->skip) launches->first = options->skip + 1;
    if (options->sample && !choose(launches, options->sample, max_insts, probe, err)) return false;
    struct checkpoint *checkpoint =
        saves ? launches_checkpoint(options->checkpoint, options->restore, &launches->first, launches->last, err)
              : NULL;
    if (saves && !checkpoint) return false;
    if (checkpoint && !program_source_checkpoint(source, checkpoint)) {
        checkpoint_destroy(checkpoint);
        return error_set(err,
                         "--checkpoint and --restore are for programs that are executed: workloads and launch files");
    }
    launches->checkpoint = checkpoint;
    launches->selection = selection_create(source, checkpoint ? checkpoint_launches(checkpoint) : 0, launches->first,
                                           launches->last, launches->wanted);
    return true;
}

void launches_release(struct launches *launches) {
    if (launches->selection) launches->selection->ops->destroy(launches->selection);
    profiles_release(&launches->profiles);
    free(launches->chosen);
    free(launches->wanted);
    *launches = (struct launches){0};
}
