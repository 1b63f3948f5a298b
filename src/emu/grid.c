/* The order of emulation: a function of program and launch only, so that races resolve the same way in every run.
 *
 * CTAs enter a window in grid order, clusters as a whole; in every round each warp of the window runs for a quantum of
 * instructions, or to a barrier, the end of an iteration that polls (poll.c), or its end. A finished CTA is replaced by
 * the next one. If all CTAs of the window spin on a later CTA, the window must admit it: after several rounds in which no
 * CTA has finished and global memory has not changed, the window doubles. It also doubles if merely no CTA has finished
 * for longer, since a waiting CTA may count its rounds in memory; at increasing intervals once the window holds more
 * warps than a GPU.
 *
 * A warp that polls memory may be parked until it changes (poll.c). It polls again at intervals, so that timing can go on
 * with it even if another warp never ends. If all warps of the window are parked or wait at barriers, the window doubles
 * at once.
 *
 * If no thread makes progress although all CTAs are in the window, the kernel may be livelocked (livelock.c). */
#include "emu/cta.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_CTAS = 128,
    QUANTUM = 128,
    PATIENCE_ROUNDS = 256,
    QUIET_ROUNDS = 32,
    IDLE_ROUNDS = 8,   /* the same if all warps poll */
    FLUSH_ROUNDS = 64, /* a power of two */
    LIVELOCK_ROUNDS = 128,
    RETRY_ROUNDS = 64,
    WAITING_WARPS = 1 << 15, /* several times what a GPU holds at once */
    GPU_WARPS = 8192,
    LIMIT_INSTRUCTIONS = 1 << 17,    /* beyond device.limit, which a run exceeds by up to 1024 cycles */
    PATIENCE_INSTRUCTIONS = 1 << 16, /* of each warp */
    THREADS_MAX = 1024,
    SHARED_MAX = 227 * 1024
};

struct window {
    struct cta *ctas;
    uint32_t count, room;
    uint64_t next, ended;
    uint64_t idle_instructions;         /* that each warp has or could have executed without a finished CTA */
    uint64_t idle_rounds, quiet_rounds; /* rounds without a finished CTA; and without a change of memory */
    uint64_t stuck_rounds;              /* rounds without progress of any thread */
    uint64_t ended_at;                  /* warp instructions when a CTA last ended */
    uint64_t suspended;                 /* instructions that suspended warps (mbarrier.c) could have executed */
    /* instructions, with those, before the last progress, or the last search for a livelock after it */
    uint64_t progressed_at;
    uint64_t patience, livelock_rounds;
    bool ran;      /* some warp in this round */
    bool all_idle; /* those that did yield after an iteration of a loop (poll.c) */
};

/* The launch */

static const uint32_t *cluster_of(const struct launch *launch) {
    static const uint32_t one[3] = {1, 1, 1};
    const uint32_t *required = launch->kernel->required_cluster;
    return launch->cluster[0] ? launch->cluster : required[0] ? required : one;
}

/* Clusters: given by the launch, the kernel or both, of at most CLUSTER_CTAS CTAs, and the grid consists of whole ones. */
uint32_t emu_cluster(const struct launch *launch, struct error *err) {
    const struct program_function *kernel = launch->kernel;
    const uint32_t *cluster = cluster_of(launch), *required = kernel->required_cluster, *grid = launch->grid;
    if (kernel->explicit_cluster && !launch->cluster[0] && !required[0])
        return error_set(err, "launch of %s: the kernel requires a size of clusters (.explicitcluster)", kernel->name),
               0;
    uint64_t ctas = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (required[0] && cluster[i] != required[i])
            return error_set(err, "launch of %s: clusters of %ux%ux%u CTAs; the kernel requires %ux%ux%u", kernel->name,
                             cluster[0], cluster[1], cluster[2], required[0], required[1], required[2]),
                   0;
        if (!cluster[i] || grid[i] % cluster[i])
            return error_set(err, "launch of %s: a grid of %ux%ux%u CTAs does not consist of clusters of %ux%ux%u",
                             kernel->name, grid[0], grid[1], grid[2], cluster[0], cluster[1], cluster[2]),
                   0;
        ctas = min_u64(ctas * cluster[i], UINT32_MAX);
    }
    uint64_t limit = min_u64(kernel->max_cluster_rank ? kernel->max_cluster_rank : CLUSTER_CTAS, CLUSTER_CTAS);
    if (ctas > limit)
        return error_set(err, "launch of %s: clusters of %ux%ux%u CTAs; the limit is %u CTAs", kernel->name, cluster[0],
                         cluster[1], cluster[2], (unsigned)limit),
               0;
    return (uint32_t)ctas;
}

static bool launch_fits(const struct launch *launch, struct error *err) {
    static const uint32_t grid_max[3] = {INT32_MAX, 65535, 65535}, block_max[3] = {1024, 1024, 64};
    const struct program_function *kernel = launch->kernel;
    const uint32_t *grid = launch->grid, *block = launch->block;
    for (unsigned i = 0; i < 3; i++) {
        if (!grid[i] || grid[i] > grid_max[i])
            return error_set(err,
                             "launch of %s: a grid of %ux%ux%u blocks; dimensions must be 1 to 2147483647x65535x65535",
                             kernel->name, grid[0], grid[1], grid[2]);
        if (!block[i] || block[i] > block_max[i])
            return error_set(err, "launch of %s: a block of %ux%ux%u threads; dimensions must be 1 to 1024x1024x64",
                             kernel->name, block[0], block[1], block[2]);
    }
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    const uint32_t *most = kernel->max_threads, *exact = kernel->required_threads;
    uint64_t limit = most[0] ? (uint64_t)most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1) : THREADS_MAX;
    if (threads > min_u64(limit, THREADS_MAX))
        return error_set(err, "launch of %s: a block of %ux%ux%u has %u threads; the limit is %u", kernel->name,
                         block[0], block[1], block[2], (unsigned)threads, (unsigned)min_u64(limit, THREADS_MAX));
    for (unsigned i = 0; exact[0] && i < 3; i++)
        if (block[i] != (exact[i] ? exact[i] : 1))
            return error_set(err, "launch of %s: a block of %ux%ux%u threads; the kernel requires %ux%ux%u",
                             kernel->name, block[0], block[1], block[2], exact[0], exact[1] ? exact[1] : 1,
                             exact[2] ? exact[2] : 1);
    if ((uint64_t)kernel->shared_bytes + launch->dynamic_shared_bytes > SHARED_MAX)
        return error_set(err, "launch of %s: %u bytes of static and %u of dynamic shared memory; the limit is %u",
                         kernel->name, kernel->shared_bytes, launch->dynamic_shared_bytes, SHARED_MAX);
    return emu_cluster(launch, err);
}

/* Local memory of a warp in the stream: the kernel's frame and some space for callees. */
static uint32_t local_stride(const struct program *program, const struct program_function *kernel) {
    uint64_t bytes = kernel->frame_bytes, deepest = 0;
    for (uint32_t i = 0; kernel->call_count && i < program->function_count; i++)
        if (!program->functions[i].is_kernel) deepest = max_u64(deepest, program->functions[i].frame_bytes);
    bytes = max_u64(div_up(bytes + 4 * deepest, FRAME_ALIGN_BYTES), 1) * FRAME_ALIGN_BYTES;
    return (uint32_t)(min_u64(bytes, UINT64_C(1) << 26) * WARP_LANES);
}

/* CTAs */

/* Position in the grid of the CTA with an index: clusters in grid order, and in each its CTAs. */
static void cta_place(struct cta *cta, const uint32_t grid[3], const uint32_t cluster[3], uint32_t cluster_ctas) {
    uint64_t outer = cta->index / cluster_ctas, inner = cta->rank = (uint32_t)(cta->index % cluster_ctas);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t clusters = grid[i] / cluster[i];
        cta->ctaid[i] = (uint32_t)(outer % clusters * cluster[i] + inner % cluster[i]);
        outer /= clusters;
        inner /= cluster[i];
    }
}

static void cta_begin(struct cta *cta, struct run *run, uint64_t index) {
    const uint32_t *grid = run->launch->grid;
    cta->run = run;
    cta->index = index;
    cta_place(cta, grid, run->cluster, run->cluster_ctas);
    cta->live = cta->ready = run->warps;
    cta->rounds = 0;
    cta->ended = false;
    memset(cta->barriers, 0, sizeof cta->barriers);
    mbarriers_begin(cta);
    if (!cta->warps) {
        cta->warps = mem_alloc_lines(run->warps, sizeof *cta->warps);
        cta->shared = mem_alloc_lines(run->shared_bytes ? run->shared_bytes : 1, 1);
        cta->specials = specials_create(run);
    } else {
        memset(cta->shared, 0, run->shared_bytes);
    }
    for (uint32_t i = 0; i < run->warps; i++) warp_begin(&cta->warps[i], cta, i);
}

static void cta_release(struct cta *cta, uint32_t warps) {
    for (uint32_t i = 0; cta->warps && i < warps; i++) warp_release(&cta->warps[i]);
    free(cta->warps);
    free(cta->shared);
    free(cta->specials);
    mbarriers_release(cta);
}

static void window_widen(struct window *window, struct run *run, uint32_t count) {
    if (count > window->room) {
        window->ctas = mem_grow(window->ctas, count, sizeof *window->ctas);
        memset(window->ctas + window->room, 0, (count - window->room) * sizeof *window->ctas);
        window->room = count;
        /* Warps point to their CTA, which has moved. */
        for (uint32_t c = 0; c < window->count; c++)
            for (uint32_t i = 0; i < run->warps; i++) window->ctas[c].warps[i].warp.cta = &window->ctas[c];
    }
    while (window->count < count && window->next < run->ctas)
        cta_begin(&window->ctas[window->count++], run, window->next++);
}

/* A warp at a barrier may wait for one that spins, possibly forever. Timing needs the records up to the barrier in order
 * to go on with the spinning warp; they are passed on after a number of rounds that doubles. */
static void cta_flush(struct cta *cta) {
    if (++cta->rounds < FLUSH_ROUNDS || (cta->rounds & (cta->rounds - 1))) return;
    for (uint32_t i = 0; i < cta->run->warps; i++)
        if ((cta->warps[i].status == WARP_WAITING || cta->warps[i].suspended) && cta->warps[i].writer)
            trace_flush(cta->warps[i].writer);
}

/* A parked warp continues if what it polls has changed, and at intervals. */
static void warp_unpark(struct warp_state *w) {
    if (strand_wake(w)) {
        w->parked_rounds = 0;
    } else if (++w->parked_rounds % RETRY_ROUNDS == 0) {
        if (w->writer) trace_flush(w->writer);
        strand_retry(w);
    }
}

/* The next cluster (a CTA, if there are none) takes the place of one whose CTAs have all ended. */
static void cluster_replace(struct window *window, struct run *run, struct cta *first) {
    for (uint32_t c = 0; c < run->cluster_ctas; c++)
        if (first[c].live) return;
    for (uint32_t c = 0; c < run->cluster_ctas && window->next < run->ctas && !run->failed; c++)
        cta_begin(&first[c], run, window->next++);
}

static bool run_goes_on(const struct run *run) { return !run->failed && !run->counts.cut; }

static void budget_check(struct run *run) {
    const uint64_t budget = run->device->budget;
    if (UNLIKELY(budget && run->counts.thread_instructions >= budget)) run->counts.cut = true;
}

/* Fails if the kernel, which is not timed, does not seem to end. */
static void patience_check(struct window *window, struct run *run) {
    const uint64_t executed = run->counts.warp_instructions;
    if (!window->idle_rounds) window->ended_at = executed;
    if (!run->device->patience || run->failed) return;
    uint64_t patience = max_u64(run->device->patience, (uint64_t)window->count * run->warps * PATIENCE_INSTRUCTIONS);
    if (executed - window->ended_at < patience) return;
    run->failed = !error_set(
        run->err, "launch of %s, which is executed without timing: no CTA has ended for %llu warp instructions",
        run->launch->kernel->name, (unsigned long long)patience);
}

static void window_round(struct window *window, struct run *run) {
    uint64_t ended = window->ended, least = QUANTUM;
    run->changed = run->changed_before = 0;
    window->ran = false;
    window->all_idle = true;
    for (uint32_t c = 0; c < window->count && run_goes_on(run); c++) {
        struct cta *cta = &window->ctas[c];
        for (uint32_t i = 0; cta->live && i < run->warps && run_goes_on(run); i++) {
            struct warp_state *w = &cta->warps[i];
            if (w->status == WARP_POLLS) warp_unpark(w);
            if (w->status != WARP_READY) continue;
            window->ran = true;
            uint64_t before = w->executed;
            warp_run(w, QUANTUM);
            if (w->executed == before) window->suspended += QUANTUM;
            if (poll_yields(w))
                least = min_u64(least, w->executed - before);
            else
                window->all_idle = false;
            budget_check(run);
        }
        if (cta->live) {
            cta_flush(cta);
        } else if (!cta->ended) { /* now, or while its warps were examined (livelock.c) */
            cta->ended = true;
            window->ended++;
        }
        if (cta->rank + 1 == run->cluster_ctas) cluster_replace(window, run, cta - cta->rank);
    }
    window->idle_rounds = window->ended != ended ? 0 : window->idle_rounds + 1;
    window->idle_instructions = window->ended != ended ? 0 : window->idle_instructions + least;
    window->quiet_rounds =
        window->ended != ended || (run->changed | run->changed_before) & CHANGED_MEMORY ? 0 : window->quiet_rounds + 1;
    window->stuck_rounds = run_progressed(run) ? 0 : window->stuck_rounds + 1;
    if (run_progressed(run)) window->progressed_at = run->counts.warp_instructions + window->suspended;
}

/* Whether the window holds all CTAs that a machine may hold at once. */
static bool window_holds_gpu(const struct window *window, const struct run *run) {
    return window->next == run->ctas || (uint64_t)window->count * run->warps >= GPU_WARPS;
}

/* Whether the search for a livelock, in which warps execute, might exceed the budget by much. */
static bool budget_is_near(const struct window *window, const struct run *run) {
    const uint64_t budget = run->device->budget,
                   most = (uint64_t)window->count * run->warps * WARP_LANES * POLL_PERIOD_MAX;
    return budget && budget - run->counts.thread_instructions < most;
}

/* Admits further CTAs, or looks for a livelock if there are none, when waiting warps require it. */
static void window_adapt(struct window *window, struct run *run) {
    if (window->next == run->ctas) {
        uint64_t executed = run->counts.warp_instructions + window->suspended;
        bool overdue = executed - window->progressed_at >= run->device->livelock_instructions;
        if (window->ran && window->stuck_rounds < window->livelock_rounds && !overdue) return;
        if (window->ran && budget_is_near(window, run)) return;
        livelock_check(run, window->ctas, window->count, overdue);
        window->stuck_rounds = 0;
        window->livelock_rounds *= 4;
        if (overdue) window->progressed_at = executed;
        return;
    }
    bool waited = window->idle_rounds >= window->patience;
    unsigned quiet = window->all_idle ? IDLE_ROUNDS : QUIET_ROUNDS;
    if (window->ran && !waited && window->quiet_rounds < quiet) return;
    if ((uint64_t)window->count * run->warps >= WAITING_WARPS) {
        if (!window->ran) livelock_report(run, window->ctas, window->count, "CTAs that have not begun are waited for");
        return;
    }
    if (window->ran && waited && window_holds_gpu(window, run)) window->patience *= 4;
    window_widen(window, run, 2 * window->room);
    window->idle_rounds = window->quiet_rounds = window->stuck_rounds = 0;
}

bool emu_run(struct device *device, const struct launch *launch, struct trace *trace, struct emu_counts *counts,
             struct error *err) {
    const struct program *program = launch->module->program;
    if (!program_executable(program, launch->kernel, err) || !launch_fits(launch, err)) return false;
    const uint32_t *grid = launch->grid, *block = launch->block;
    struct run run = {
        .device = device,
        .launch = launch,
        .loaded = launch->module,
        .kernel = &launch->module->codes[launch->kernel - program->functions],
        .trace = trace,
        .err = err,
        .ctas = (uint64_t)grid[0] * grid[1] * grid[2],
        .threads = block[0] * block[1] * block[2],
        .warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES,
        .shared_bytes = launch->kernel->shared_bytes + launch->dynamic_shared_bytes,
        .local_stride = local_stride(program, launch->kernel),
        .cluster_ctas = emu_cluster(launch, err),
        .explicit_cluster = launch->cluster[0] || launch->kernel->required_cluster[0],
    };
    memcpy(run.cluster, cluster_of(launch), sizeof run.cluster);
    memory_clear_marks(&device->memory);
    struct window window = {.patience = PATIENCE_ROUNDS, .livelock_rounds = LIVELOCK_ROUNDS};
    uint64_t width = min_u64(WINDOW_CTAS / run.cluster_ctas * run.cluster_ctas, run.ctas);
    window_widen(&window, &run, (uint32_t)width);
    while (window.ended < run.ctas && !run.failed && !run.counts.cut) {
        if (device->stop && atomic_load_explicit(device->stop, memory_order_relaxed)) {
            run.failed = !error_set(err, "launch of %s: stopped", launch->kernel->name);
            break;
        }
        window_round(&window, &run);
        if (run_goes_on(&run) && window.ended < run.ctas) window_adapt(&window, &run);
        run.counts.cut |= device->limit && window.idle_instructions > device->limit + LIMIT_INSTRUCTIONS &&
                          window_holds_gpu(&window, &run);
        if (window.ended < run.ctas) patience_check(&window, &run);
    }
    for (uint32_t c = 0; c < window.count && run.counts.cut && trace; c++) barriers_cut(&window.ctas[c]);
    for (uint32_t c = 0; c < window.room; c++) cta_release(&window.ctas[c], run.warps);
    free(window.ctas);
    device->launches++;
    if (counts) *counts = run.counts;
    return !run.failed;
}
