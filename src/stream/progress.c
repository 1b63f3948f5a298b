#include "stream/progress.h"

static double part(uint64_t done, uint64_t all) { return done < all ? (double)done / (double)all : 1; }

double program_share(const struct program_progress *now, const struct program_extent *extent) {
    double share = -1, limited = -1;
    uint64_t threads = now->threads;
    if (now->kernel) threads += now->ctas * kernel_threads(now->kernel);
    if (now->done) return 1;
    if (extent->warp_instructions)
        share = part(now->warp_instructions, extent->warp_instructions);
    else if (extent->threads)
        share = part(threads, extent->threads);
    if (extent->thread_instruction_limit) limited = part(now->thread_instructions, extent->thread_instruction_limit);
    return limited > share ? limited : share;
}
