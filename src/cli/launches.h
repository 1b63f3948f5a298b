/* Which launches of a program a run times: all, a range, or a few that represent the program. */
#ifndef SLUICE_CLI_LAUNCHES_H
#define SLUICE_CLI_LAUNCHES_H

#include "cli/command.h"
#include "cli/job.h"
#include "stream/representatives.h"

struct launch_options {
    const char *kernels, *checkpoint, *restore;
    uint64_t skip, sample;
};

#define CHECKPOINT_OPTIONS(values, checkpoint_, restore_) \
    {"--checkpoint", "FILE", OPTION_TEXT, offsetof(struct values, checkpoint_), \
     "write what the launches before the first timed one do to device memory to FILE"}, \
    { \
        "--restore", "FILE", OPTION_TEXT, offsetof(struct values, restore_), \
            "apply the launches of a checkpoint of the same program instead of executing them" \
    }

#define LAUNCH_OPTIONS(values, field) \
    {"--kernels", "A-B", OPTION_TEXT, offsetof(struct values, field.kernels), \
     "time launches A to B only, counted from 1 (A: one launch; A-: all from A on); earlier ones are executed"}, \
        {"--skip-kernels", "N", OPTION_COUNT, offsetof(struct values, field.skip), \
         "execute the first N launches without timing them"}, \
        CHECKPOINT_OPTIONS(values, field.checkpoint, field.restore), { \
        "--sample-kernels", "N", OPTION_COUNT, offsetof(struct values, field.sample), \
            "execute the program twice: first profile its launches and choose at most N that represent them, then time" \
            " these and the launch before each, and estimate cycles and counters of the whole program" \
    }

/* The launches of a run, if they are not all. */
struct launches {
    struct stream_source *selection; /* NULL: all */
    uint64_t first, last;
    const struct checkpoint *checkpoint; /* the program's; NULL: none */
    bool *wanted;                        /* of first to last; NULL: all of them */
    /* With --sample-kernels */
    struct launch_profiles profiles;
    struct representative *chosen;
    uint32_t chosen_count;
};

/* "A", "A-B" or "A-", from 1. */
bool launches_range(const char *text, uint64_t *first, uint64_t *last);
/* Opens the checkpoint that one of the paths names, before the first timed launch; *first becomes at least the launch
 * after it. */
struct checkpoint *launches_checkpoint(const char *checkpoint, const char *restore, uint64_t *first, uint64_t last,
                                       struct error *err);
/* Whether the options agree with each other; prints an error if not. */
bool launches_named(const struct command *command, const struct launch_options *options);
/* Of the program `source`. If launches are to be chosen, `probe` is executed for it: the same program again. `max_insts`: as
 * for the run; 0: none. */
bool launches_open(struct launches *launches, const struct launch_options *options, uint64_t max_insts,
                   struct stream_source *source, struct stream_source *probe, struct error *err);
void launches_release(struct launches *launches);

#endif
