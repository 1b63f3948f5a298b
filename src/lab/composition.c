#include "lab/composition.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Number of launches of the composition; 0 with the reason. */
static unsigned count_launches(struct stored_run *const *runs, unsigned count, bool cut, struct error *why) {
    const struct stored_launch *first, *other;
    unsigned launches = stored_run_launches(runs[0], &first), all = launches;
    for (unsigned r = 1; r < count; r++) {
        unsigned of_run = stored_run_launches(runs[r], &other);
        if (of_run != all && !cut) return error_set(why, "one run launches %u kernels, another %u", all, of_run), 0;
        launches = (unsigned)min_u64(launches, of_run);
        for (unsigned i = 0; i < launches; i++)
            if (strcmp(first[i].kernel, other[i].kernel) != 0)
                return error_set(why, "launch %u is %s in one run and %s in another", i + 1, first[i].kernel,
                                 other[i].kernel),
                       0;
    }
    if (launches == 0) error_set(why, "a run has no launches");
    return launches;
}

/* By cycles per instruction; a launch without instructions is never faster. */
static bool is_faster(const struct stored_launch *a, const struct stored_launch *b) {
    return a->cycles * b->thread_instructions < b->cycles * a->thread_instructions;
}

static void take_fastest(struct composition *composition, struct stored_run *const *runs, unsigned count,
                         unsigned launch) {
    const struct stored_launch *part, *best = NULL;
    for (unsigned r = 0; r < count; r++) {
        stored_run_launches(runs[r], &part);
        if (best && !is_faster(&part[launch], best)) continue;
        best = &part[launch];
        composition->chosen[launch] = r;
    }
    composition->cycles += best->cycles;
    composition->thread_instructions += best->thread_instructions;
    composition->warp_instructions += best->warp_instructions;
}

bool composition_make(struct composition *composition, struct stored_run *const *runs, unsigned count, bool cut,
                      struct error *why) {
    unsigned launches = count_launches(runs, count, cut, why);
    *composition = (struct composition){.launches = launches};
    if (launches == 0) return false;
    composition->chosen = mem_alloc(launches, sizeof *composition->chosen);
    for (unsigned i = 0; i < launches; i++) take_fastest(composition, runs, count, i);
    return true;
}

void composition_release(struct composition *composition) { free(composition->chosen); }

int composition_only(const struct composition *composition) {
    for (unsigned i = 1; i < composition->launches; i++)
        if (composition->chosen[i] != composition->chosen[0]) return -1;
    return (int)composition->chosen[0];
}

bool composition_value(const struct composition *composition, const char *name, double *value) {
    const struct {
        const char *name;
        double value;
    } known[] = {{"cycles", composition->cycles},
                 {"thread_instructions", composition->thread_instructions},
                 {"warp_instructions", composition->warp_instructions},
                 {"ipc", composition->thread_instructions / composition->cycles}};
    for (unsigned i = 0; i < COUNT_OF(known); i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        *value = known[i].value;
        return true;
    }
    return false;
}
