#include "stream/representatives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/reader.h"

static void begin_launch(void *user, const struct kernel *kernel) {
    struct launch_profiles *profiles = user;
    if (profiles->count == profiles->room) {
        profiles->room = profiles->room ? 2 * profiles->room : 16;
        profiles->launch = mem_grow(profiles->launch, profiles->room, sizeof *profiles->launch);
    }
    profiles->launch[profiles->count++] = (struct launch_profile){.kernel = *kernel};
}

static void take_records(void *user, const struct warp_stream *warp) {
    struct launch_profiles *profiles = user;
    struct launch_profile *profile = &profiles->launch[profiles->count - 1];
    for (unsigned i = 0; i < warp->count; i++) {
        const struct instr *record = &warp->instr[i];
        profile->ops[instr_class(record)]++;
        profile->thread_instructions += (unsigned)__builtin_popcount(record->active);
        if (!instr_is_memory(record) || record->space != SPACE_GLOBAL) continue;
        profile->accesses++;
        profile->blocks += record->count;
    }
    profile->warp_instructions += warp->count;
}

bool profiles_take(struct stream_source *source, struct launch_profiles *profiles, struct error *err) {
    *profiles = (struct launch_profiles){0};
    return reader_run(&(struct reader){.begin = begin_launch, .take = take_records, .user = profiles}, source, err);
}

void profiles_release(struct launch_profiles *profiles) {
    free(profiles->launch);
    *profiles = (struct launch_profiles){0};
}

/* Doublings between two numbers. */
static double doublings(double a, double b) { return fabs(log2(a + 1) - log2(b + 1)); }

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

static double distance(const struct launch_profile *a, const struct launch_profile *b) {
    enum { OTHER_KERNEL = 8, OTHER_CLASS = 4 };
    double sum = strcmp(a->kernel.name, b->kernel.name) ? OTHER_KERNEL : 0;
    sum += doublings((double)a->warp_instructions, (double)b->warp_instructions);
    sum += doublings((double)kernel_ctas(&a->kernel), (double)kernel_ctas(&b->kernel));
    sum += doublings(kernel_threads(&a->kernel), kernel_threads(&b->kernel));
    sum += doublings(share(a->blocks, a->accesses), share(b->blocks, b->accesses));
    for (unsigned op = 0; op < OP_COUNT; op++)
        sum += OTHER_CLASS * fabs(share(a->ops[op], a->warp_instructions) - share(b->ops[op], b->warp_instructions));
    return sum;
}

/* Each launch and the nearest centre found so far. */
struct nearest {
    double distance;
    uint32_t centre;
};

/* Makes a launch a centre. */
static void add_centre(const struct launch_profiles *profiles, uint32_t launch, uint32_t centre,
                       struct nearest *nearest) {
    for (uint32_t i = 0; i < profiles->count; i++) {
        double d = distance(&profiles->launch[i], &profiles->launch[launch]);
        if (d < nearest[i].distance) nearest[i] = (struct nearest){d, centre};
    }
}

/* The first launch with the largest product of instructions and distance; the number of launches if all are 0. */
static uint32_t farthest(const struct launch_profiles *profiles, const struct nearest *nearest) {
    uint32_t found = profiles->count;
    double most = 0;
    for (uint32_t i = 0; i < profiles->count; i++) {
        double product = (double)profiles->launch[i].warp_instructions * nearest[i].distance;
        if (product > most) most = product, found = i;
    }
    return found;
}

static int by_launch(const void *a, const void *b) {
    uint32_t x = ((const struct representative *)a)->launch, y = ((const struct representative *)b)->launch;
    return (x > y) - (x < y);
}

/* The launch of the set whose instructions are nearest to their mean, the first of equals. */
static struct representative represent(const struct launch_profiles *profiles, const struct nearest *nearest,
                                       uint32_t centre) {
    struct representative found = {0};
    double sum = 0, best = INFINITY;
    for (uint32_t i = 0; i < profiles->count; i++) {
        if (nearest[i].centre != centre) continue;
        found.launches++;
        sum += (double)profiles->launch[i].warp_instructions;
    }
    for (uint32_t i = 0; i < profiles->count; i++) {
        double off = fabs((double)profiles->launch[i].warp_instructions - sum / found.launches);
        if (nearest[i].centre == centre && off < best) best = off, found.launch = i;
    }
    found.weight = sum / (double)profiles->launch[found.launch].warp_instructions;
    return found;
}

uint32_t representatives_choose(const struct launch_profiles *profiles, uint32_t most, struct representative *chosen) {
    struct nearest *nearest = mem_alloc(profiles->count ? profiles->count : 1, sizeof *nearest);
    for (uint32_t i = 0; i < profiles->count; i++) nearest[i] = (struct nearest){1, 0}; /* from nothing */
    uint32_t count = 0;
    if (most >= profiles->count) { /* no estimate is better */
        for (; count < profiles->count; count++) chosen[count] = (struct representative){count, 1, 1};
        free(nearest);
        return count;
    }
    for (uint32_t launch; count < most && (launch = farthest(profiles, nearest)) < profiles->count; count++) {
        if (!count)
            for (uint32_t i = 0; i < profiles->count; i++) nearest[i].distance = INFINITY;
        add_centre(profiles, launch, count, nearest);
    }
    for (uint32_t c = 0; c < count; c++) chosen[c] = represent(profiles, nearest, c);
    qsort(chosen, count, sizeof *chosen, by_launch);
    free(nearest);
    return count;
}
