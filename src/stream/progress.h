/* How far a program has come, for progress displays. */
#ifndef SLUICE_STREAM_PROGRESS_H
#define SLUICE_STREAM_PROGRESS_H

#include "stream/stream.h"

struct program_progress {
    uint64_t warp_instructions, thread_instructions;
    uint64_t kernels, threads;   /* launches that have ended, and their threads */
    const struct kernel *kernel; /* the one under way, or NULL; valid during the call */
    uint64_t ctas;               /* of it that have ended */
    bool done;                   /* the program has ended; it may run again */
};

/* What a program executes from start to end; 0: unknown. Threads are those of all launches. */
struct program_extent {
    uint64_t warp_instructions, threads;
    uint64_t thread_instruction_limit; /* the run may end earlier, here; 0: no limit */
};

/* Share of the kernel under way, by its CTAs. */
static inline double program_kernel_share(const struct program_progress *now) {
    return now->kernel ? (double)now->ctas / (double)kernel_ctas(now->kernel) : 0;
}

/* Share of the program that is done, from 0 to 1: by instructions if their number is known, otherwise by the CTAs that
 * have ended; -1 if neither is known. */
double program_share(const struct program_progress *now, const struct program_extent *extent);

#endif
