/* Launches that represent a program: a few of them are timed, each for a set of launches that execute much the same.
 *
 * A profile of every launch is taken from the streams: its kernel, grid and block, instructions by class, and touched
 * blocks per access. Launches are far apart that differ in these; launches of different kernels are further apart. The
 * one with the most instructions is the first centre; each further one is the launch with the largest product of its
 * instructions and its distance from the nearest centre. Every launch belongs to the nearest centre, and each set is
 * represented by the launch whose instructions are nearest to their mean, with the weight (instructions of the set) /
 * (its instructions). The idea to group launches and to time one of each group is that of Principal Kernel Analysis
 * (MICRO 2021), which groups by hardware counters.
 *
 * What it leaves out: what caches hold of launches before the last one (a run times that one, too), and that the time of a
 * launch is not proportional to its instructions. */
#ifndef SLUICE_STREAM_REPRESENTATIVES_H
#define SLUICE_STREAM_REPRESENTATIVES_H

#include "stream/stream.h"

struct launch_profile {
    struct kernel kernel;
    uint64_t warp_instructions, thread_instructions;
    uint64_t ops[OP_COUNT];
    uint64_t accesses, blocks; /* to global memory, and blocks that they touch */
};

struct launch_profiles {
    struct launch_profile *launch;
    uint32_t count, room;
};

/* Reads the source to its end. False with an error if the source fails, or if its `patience` returns false. */
bool profiles_take(struct stream_source *source, struct launch_profiles *profiles, struct error *err);
void profiles_release(struct launch_profiles *profiles);

struct representative {
    uint32_t launch;   /* from 0 */
    uint32_t launches; /* that it represents, with itself */
    double weight;
};

/* At most `most` of them, in the order of the program; all launches, if these are not more. Returns their number. */
uint32_t representatives_choose(const struct launch_profiles *profiles, uint32_t most, struct representative *chosen);

#endif
