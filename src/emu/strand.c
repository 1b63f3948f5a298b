/* Independent thread scheduling: threads of a warp make progress past each other.
 *
 * Lanes execute together as with a SIMT stack (simt.c) as long as the running path makes progress. They split into
 * strands in three cases:
 *   - the running path polls memory that does not change (poll.c);
 *   - it waits at a .sync operation or a barrier for lanes that are elsewhere;
 *   - other lanes have waited for it for PATIENCE instructions of the warp.
 * The lanes in question leave the stack with a copy of it; the others continue. A strand at a reconvergence point waits
 * for those that can still arrive there, up to PATIENCE instructions. Strands with equal stacks merge when one is
 * selected, at a reconvergence point, and after a store. A store that ends a poll passes control to the polling strand;
 * so lanes that take a lock one after the other gather behind its release.
 *
 * PTX ISA, shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, bar.warp.sync: a thread waits until all threads of
 * its member mask that have not exited execute the operation with the same mask and qualifiers, at any place. barrier:
 * a thread waits for all threads of its warp that have not exited; then the warp arrives. mma.sync and the other matrix
 * operations, which are .aligned: a thread waits until all threads of the warp execute the same instruction; the same is
 * assumed of barrier.cluster. If all
 * threads of a warp wait and none is complete, the program is wrong: a fault.
 *
 * Targets before sm_70 do not split: lanes that wait for each other deadlock, as on those GPUs. */
#include "emu/cta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 1 << 18,
    TURN = 1 << 13, /* instructions of a strand while another one is ready */
};

/* --- splitting and merging --- */

static struct strand *strand_new(struct warp_state *w) {
    if (w->strand_count == w->strand_room) {
        w->strand_room = w->strand_room ? 2 * w->strand_room : 4;
        w->strands = mem_grow(w->strands, w->strand_room, sizeof *w->strands);
    }
    return &w->strands[w->strand_count++];
}

/* Parks the running strand. */
static struct strand *park(struct warp_state *w, enum strand_status status) {
    struct strand *s = strand_new(w);
    *s = (struct strand){
        .status = status,
        .lanes = w->lanes,
        .paths = w->paths,
        .path_count = w->path_count,
        .path_room = w->path_room,
        .frames = w->frames,
        .frame_count = w->frame_count,
        .frame_room = w->frame_room,
    };
    w->paths = NULL;
    w->frames = NULL;
    w->path_count = w->path_room = w->frame_count = w->frame_room = w->lanes = 0;
    w->frame = NULL;
    w->quiet = 0;
    return s;
}

static void resume(struct warp_state *w, uint32_t index) {
    assert(!w->probed);
    struct strand s = w->strands[index];
    w->strand_count--;
    memmove(&w->strands[index], &w->strands[index + 1], (w->strand_count - index) * sizeof s);
    w->lanes = s.lanes;
    w->paths = s.paths;
    w->path_count = s.path_count;
    w->path_room = s.path_room;
    w->frames = s.frames;
    w->frame_count = s.frame_count;
    w->frame_room = s.frame_room;
    w->since = w->executed;
    w->quiet = 0;
    free(s.watched);
    frame_enter(w);
}

/* Removes all lanes but these from a stack. */
static void restrict_to(uint32_t lanes, struct path *paths, uint32_t *path_count, struct frame *frames,
                        uint32_t frame_count) {
    uint32_t kept = 0, f = 0;
    for (uint32_t i = 0; i < *path_count; i++) {
        while (f < frame_count && frames[f].first_path == i) frames[f++].first_path = kept;
        if (!(paths[i].mask & lanes)) continue;
        paths[kept] = paths[i];
        paths[kept++].mask &= lanes;
    }
    while (f < frame_count) frames[f++].first_path = kept;
    for (f = 0; f < frame_count; f++) frames[f].mask &= lanes;
    *path_count = kept;
}

/* Lanes of the running strand become a parked one. */
static struct strand *split(struct warp_state *w, uint32_t lanes, enum strand_status status) {
    if (lanes == w->lanes) return park(w, status);
    struct strand *s = strand_new(w);
    *s = (struct strand){
        .status = status,
        .lanes = lanes,
        .path_count = w->path_count,
        .path_room = w->path_room,
        .frame_count = w->frame_count,
        .frame_room = w->frame_room,
    };
    s->paths = mem_alloc(s->path_room, sizeof *s->paths);
    s->frames = mem_alloc(s->frame_room, sizeof *s->frames);
    memcpy(s->paths, w->paths, w->path_count * sizeof *s->paths);
    memcpy(s->frames, w->frames, w->frame_count * sizeof *s->frames);
    restrict_to(lanes, s->paths, &s->path_count, s->frames, s->frame_count);
    w->lanes &= ~lanes;
    restrict_to(w->lanes, w->paths, &w->path_count, w->frames, w->frame_count);
    w->quiet = 0;
    simt_settle(w);
    return s;
}

static bool same_paths(const struct strand *a, const struct strand *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (a->paths[i].pc != b->paths[i].pc || a->paths[i].reconverge != b->paths[i].reconverge) return false;
    return true;
}

static bool same_frames(const struct strand *a, const struct strand *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct frame *x = &a->frames[i], *y = &b->frames[i];
        if (x->code != y->code || x->call != y->call || x->first_path != y->first_path || x->window != y->window ||
            x->local_base != y->local_base || x->local_top != y->local_top)
            return false;
    }
    return true;
}

static bool same_stack(const struct strand *a, const struct strand *b) {
    return a->path_count == b->path_count && a->frame_count == b->frame_count && same_paths(a, b, a->path_count) &&
           same_frames(a, b, a->frame_count);
}

/* Whether `late` can still arrive where `early` is: its stack continues that of `early`. */
static bool extends(const struct strand *late, const struct strand *early) {
    return late->path_count > early->path_count && late->frame_count >= early->frame_count &&
           same_paths(late, early, early->path_count) && same_frames(late, early, early->frame_count);
}

static void strand_free(struct strand *s) {
    free(s->paths);
    free(s->frames);
    free(s->watched);
}

/* Strand `from` joins `to`, which is before it. */
static void merge(struct warp_state *w, uint32_t to, uint32_t from) {
    struct strand *a = &w->strands[to], *b = &w->strands[from];
    a->lanes |= b->lanes;
    for (uint32_t i = 0; i < a->path_count; i++) a->paths[i].mask |= b->paths[i].mask;
    for (uint32_t i = 0; i < a->frame_count; i++) a->frames[i].mask |= b->frames[i].mask;
    a->converges &= b->converges;
    strand_free(b);
    w->strand_count--;
    memmove(b, b + 1, (w->strand_count - from) * sizeof *b);
}

/* --- meetings: .sync operations and barriers --- */

static bool is_barrier(const struct op *op) {
    return op->operation == OPERATION_bar_sync || op->operation == OPERATION_bar_arrive ||
           op->operation == OPERATION_bar_red;
}

static uint32_t place_of_members(const struct op *op) {
    return op->operation == OPERATION_shfl                                            ? op->d
           : op->operation == OPERATION_elect || op->operation == OPERATION_warp_sync ? op->a
                                                                                      : op->b;
}

bool strand_complete(struct warp_state *w, const struct op *op, uint32_t mask) {
    if (is_barrier(op)) return mask == w->live;
    const uint32_t *members = warp_place(&w->warp, place_of_members(op));
    uint32_t named = 0;
    FOR_LANES (lane, mask) named |= members[lane];
    return !(named & w->live & ~mask);
}

/* The live lanes that a waiting strand needs. */
static uint32_t needed(const struct warp_state *w, const struct strand *s) {
    return is_barrier(s->at) || op_is_aligned(s->at) ? w->live : s->members & w->live;
}

static bool meet_each_other(const struct strand *a, const struct strand *b) {
    if (op_is_aligned(a->at)) return b->status == STRAND_MEETS && a->at == b->at;
    return b->status == STRAND_MEETS && a->at->operation == b->at->operation && a->at->mode == b->at->mode &&
           a->at->element == b->at->element && (a->at->modifiers & MOD_ALL) == (b->at->modifiers & MOD_ALL) &&
           a->members == b->members;
}

/* Barriers are identified by number and thread count. */
static uint32_t barrier_key(const struct warp_state *w, const struct op *op, uint32_t mask) {
    uint32_t threads = op->b == PLACE_NONE ? 0 : lane_u32(w, op->b, mask);
    return lane_u32(w, op->a, mask) | threads << 8;
}

void strand_await(struct warp_state *w, const struct op *op, uint32_t mask) {
    uint32_t members[WARP_LANES];
    w->probed = false; /* a path that waits for others does not poll: poll_period */
    for (uint32_t i = 0; i < WARP_LANES; i++)
        members[i] = is_barrier(op)      ? barrier_key(w, op, mask)
                     : op_is_aligned(op) ? UINT32_MAX
                                         : ((const uint32_t *)warp_place(&w->warp, place_of_members(op)))[i];
    for (uint32_t rest = mask, group; rest; rest &= ~group) {
        uint32_t named = members[lowest_bit(rest)];
        group = 0;
        FOR_LANES (lane, rest) group |= (uint32_t)(members[lane] == named) << lane;
        if (!is_barrier(op) && !(named & w->live & ~mask)) continue;
        struct strand *s = split(w, group, STRAND_MEETS);
        s->at = op;
        s->members = named;
    }
    if (!w->lanes) strand_schedule(w);
}

/* All strands of the group arrive as one warp: the last of them counts. */
static void meet_at_barrier(struct warp_state *w, const struct strand *first) {
    const struct strand group = *first;
    uint32_t left = 0;
    for (uint32_t i = 0; i < w->strand_count; i++) left += meet_each_other(&group, &w->strands[i]);
    for (uint32_t i = 0; left;) {
        if (!meet_each_other(&group, &w->strands[i])) {
            i++;
            continue;
        }
        const struct op *op = w->strands[i].at;
        uint32_t lanes = w->strands[i].lanes;
        resume(w, i);
        warp_arrive(w, op, --left == 0);
        if (!left) return;
        struct strand *s = park(w, op->operation == OPERATION_bar_arrive ? STRAND_READY : STRAND_AT_BARRIER);
        s->at = op;
        s->members = lanes;
    }
}

/* Each strand of the group executes its own operation on the operands of all. */
static void meet_at_collective(struct warp_state *w, const struct strand *first) {
    const struct strand group = *first;
    struct meeting meeting = {0};
    for (unsigned pass = 0; pass < 2 && !w->run->failed; pass++)
        for (uint32_t i = 0, count = w->strand_count; count-- > 0;) {
            if (!meet_each_other(&group, &w->strands[i])) {
                i++;
                continue;
            }
            const struct op *op = w->strands[i].at;
            uint32_t lanes = w->strands[i].lanes;
            resume(w, i);
            if (!pass)
                collective_gather(w, op, lanes, &meeting);
            else
                warp_meet(w, op, &meeting);
            struct strand *s = park(w, pass ? STRAND_READY : STRAND_MEETS);
            s->at = op;
            s->members = group.members;
        }
}

/* Lets strands continue that no longer have to wait; true if the warp runs one of them. */
static bool meetings_hold(struct warp_state *w) {
    for (uint32_t i = 0; i < w->strand_count && !w->run->failed; i++) {
        struct strand *s = &w->strands[i];
        if (s->status != STRAND_MEETS) continue;
        uint32_t present = 0;
        for (uint32_t k = w->strand_count; k-- > i;)
            if (meet_each_other(s, &w->strands[k])) {
                present |= w->strands[k].lanes;
                if (k > i && same_stack(s, &w->strands[k])) merge(w, i, k);
            }
        if (needed(w, s) & ~present) continue;
        if (s->lanes == present) {
            s->status = STRAND_READY;
        } else if (is_barrier(s->at)) {
            meet_at_barrier(w, s);
            return true;
        } else if (op_is_aligned(s->at)) {
            fault_set(
                w, s->at, lowest_bit(s->lanes),
                "the lanes of warp %u come here in different ways, and the warp must execute this instruction as a whole",
                w->index);
        } else {
            meet_at_collective(w, s);
            i = UINT32_MAX; /* the order has changed */
        }
    }
    return false;
}

/* --- scheduling --- */

static bool watched_changed(struct warp_state *w, const struct strand *s) {
    for (uint32_t i = 0; i < s->watched_count; i++) {
        const struct watched *item = &s->watched[i];
        uint8_t now[sizeof item->value];
        if (!space_copy(w, item->lane, item->space, item->address, now, item->bytes, ACCESS_READ) ||
            memcmp(now, item->value, item->bytes) != 0)
            return true;
    }
    return false;
}

/* The first strand whose poll ends is made ready; the number of strands if there is none. */
static uint32_t find_woken(struct warp_state *w) {
    uint32_t first = w->strand_count;
    for (uint32_t i = w->strand_count; i-- > 0;)
        if (w->strands[i].status == STRAND_POLLS && watched_changed(w, &w->strands[i])) {
            w->strands[i].status = STRAND_READY;
            first = i;
        }
    return first;
}

static bool may_run(const struct warp_state *w, const struct strand *s) {
    if (s->status != STRAND_READY) return false;
    if (!s->converges || w->executed - s->since >= PATIENCE) return true;
    for (uint32_t i = 0; i < w->strand_count; i++)
        if (w->strands[i].status == STRAND_READY && extends(&w->strands[i], s)) return false;
    return true;
}

static void merge_ready(struct warp_state *w) {
    for (uint32_t i = 0; i < w->strand_count; i++)
        for (uint32_t k = w->strand_count; w->strands[i].status == STRAND_READY && k-- > i + 1;)
            if (w->strands[k].status == STRAND_READY && same_stack(&w->strands[i], &w->strands[k])) merge(w, i, k);
}

/* "0-3,7" */
static void lanes_text(uint32_t lanes, char *text, size_t room) {
    size_t used = 0;
    for (*text = 0; lanes && used + 8 < room;) {
        unsigned from = lowest_bit(lanes), to = from;
        while (to < WARP_LANES - 1 && lanes >> (to + 1) & 1) to++;
        used += (size_t)snprintf(text + used, room - used, from == to ? "%s%u" : "%s%u-%u", used ? "," : "", from, to);
        lanes &= to == WARP_LANES - 1 ? 0 : ~UINT32_C(0) << (to + 1);
    }
}

/* All lanes of the warp wait for others. */
static void fault_unmet(struct warp_state *w) {
    char text[640] = "", who[100], whom[100];
    size_t used = 0;
    for (uint32_t i = 0; i < w->strand_count && used + 260 < sizeof text; i++) {
        const struct strand *s = &w->strands[i];
        lanes_text(s->lanes, who, sizeof who);
        lanes_text(needed(w, s) & ~s->lanes, whom, sizeof whom);
        used += (size_t)snprintf(text + used, sizeof text - used, "; lanes %s wait in line %u for lanes %s", who,
                                 s->at->line, whom);
    }
    fault_set(w, w->strands[0].at, lowest_bit(w->strands[0].lanes), "deadlock in warp %u: no thread can continue%s",
              w->index, text);
}

void strand_schedule(struct warp_state *w) {
    uint32_t next = find_woken(w);
    if (next == w->strand_count) {
        if (meetings_hold(w) || w->run->failed) return;
        merge_ready(w);
        for (next = 0; next < w->strand_count && !may_run(w, &w->strands[next]);) next++;
    }
    bool polls = false;
    for (uint32_t i = 0; i < w->strand_count; i++) polls |= w->strands[i].status == STRAND_POLLS;
    if (next < w->strand_count)
        resume(w, next);
    else if (polls)
        w->status = WARP_POLLS;
    else
        fault_unmet(w);
}

void strand_poll(struct warp_state *w, uint32_t lanes, struct watched *watched, uint32_t count) {
    struct strand *s = split(w, lanes, STRAND_POLLS);
    s->watched = watched;
    s->watched_count = count;
    if (!w->lanes) strand_schedule(w);
}

void strand_end(struct warp_state *w) {
    struct strand *s = park(w, STRAND_READY);
    strand_free(s);
    w->strand_count--;
    strand_schedule(w);
}

/* Whether the running strand should let ready ones catch up with it: some have its stack, or, if it `converges`, can
 * still arrive where it is. */
static bool has_followers(const struct warp_state *w, bool converges) {
    const struct strand running = {
        .paths = w->paths, .path_count = w->path_count, .frames = w->frames, .frame_count = w->frame_count};
    for (uint32_t i = 0; i < w->strand_count; i++) {
        const struct strand *s = &w->strands[i];
        if (s->status == STRAND_READY && (same_stack(s, &running) || (converges && extends(s, &running)))) return true;
    }
    return false;
}

bool strand_wake(struct warp_state *w) {
    uint32_t woken = find_woken(w);
    if (woken == w->strand_count) return false;
    if (w->lanes) park(w, STRAND_READY);
    resume(w, woken);
    w->status = WARP_READY;
    return true;
}

bool strand_store(struct warp_state *w) {
    if (strand_wake(w)) return true;
    if (!has_followers(w, false)) return false;
    park(w, STRAND_READY);
    strand_schedule(w);
    return true;
}

void strand_retry(struct warp_state *w) {
    uint32_t i = 0;
    while (w->strands[i].status != STRAND_POLLS) i++;
    resume(w, i);
    w->status = WARP_READY;
}

void strand_converge(struct warp_state *w) {
    if (w->probed || !has_followers(w, true)) return;
    struct strand *s = park(w, STRAND_READY);
    s->converges = true;
    s->since = w->executed;
    strand_schedule(w);
}

void strand_rotate(struct warp_state *w) {
    if (w->path_count <= 1) {
        w->together = w->executed;
    } else if (w->executed - w->together >= PATIENCE) {
        uint32_t lanes = w->paths[w->path_count - 1].mask;
        w->together = w->executed;
        if (lanes != w->lanes) split(w, lanes, STRAND_READY), w->since = w->executed;
    }
    bool ready = false;
    for (uint32_t i = 0; i < w->strand_count; i++) ready |= w->strands[i].status == STRAND_READY;
    if (!ready || w->executed - w->since < TURN) return;
    park(w, STRAND_READY);
    strand_schedule(w);
}

void strands_release(struct warp_state *w, const struct cta_barrier *barrier,
                     void (*write)(struct warp_state *w, const struct cta_barrier *barrier)) {
    const struct op *op = w->waits_at;
    uint32_t mask = w->waits_mask;
    for (uint32_t left = w->strand_count; left-- > 0;) {
        /* Each strand runs in turn, the running one last. */
        park(w, STRAND_READY);
        w->waits_at = w->strands[0].at;
        w->waits_mask = w->strands[0].members;
        resume(w, 0);
        write(w, barrier);
    }
    if (w->strand_count) {
        park(w, STRAND_READY);
        resume(w, 0);
    }
    w->waits_at = op;
    w->waits_mask = mask;
}

uint32_t strands_window_end(const struct warp_state *w) {
    uint32_t end = 0;
    for (uint32_t i = 0; i < w->strand_count; i++) {
        const struct strand *s = &w->strands[i];
        end = (uint32_t)max_u64(end, s->frames[s->frame_count - 1].window_end);
    }
    return end;
}

void strands_free(struct warp_state *w) {
    for (uint32_t i = 0; i < w->strand_count; i++) strand_free(&w->strands[i]);
    free(w->strands);
}
