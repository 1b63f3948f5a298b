/* Livelock: no warp of a kernel makes progress any more. In most cases that is proved.
 *
 * While no thread stores, changes memory by an atomic, arrives at a barrier or exits, the future of a warp follows from
 * its own state. If the state of every warp that does not wait at a barrier recurs, none of them ever leaves its loop.
 * Warps that are parked have been proved to repeat a loop (poll.c); others are executed until their state recurs.
 *
 * Loops that count their iterations in a register or read a clock may end, and have no recurring state. They are taken
 * for a livelock if no thread has progressed for device.livelock_instructions, and every warp reads the same few words
 * again and again.
 *
 * Not detected: other loops, and warps whose threads have diverged into strands of which one is not parked. */
#include "emu/cta.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMED_WARPS = 4 };

struct text {
    char bytes[768];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, arguments);
    va_end(arguments);
    text->used = min_u64(text->used + (size_t)added, sizeof text->bytes - 1);
}

/* What a warp repeats: its first poll; without any, the next operation, with 0 bytes. */
static struct watched poll_of(struct warp_state *w) {
    for (uint32_t i = 0; i < w->strand_count; i++)
        if (w->strands[i].status == STRAND_POLLS && w->strands[i].watched_count) return w->strands[i].watched[0];
    for (uint32_t i = 0; i < w->strand_count; i++)
        if (w->strands[i].status == STRAND_POLLS) {
            const struct strand *s = &w->strands[i];
            const struct program_function *function = s->frames[s->frame_count - 1].code->function;
            return (struct watched){.op = &function->ops[s->paths[s->path_count - 1].pc],
                                    .lane = (uint8_t)lowest_bit(s->lanes)};
        }
    uint32_t mask = w->lanes, count;
    struct watched *items, poll = {0};
    unsigned period = poll_period(w);
    if (!period && poll_suspected(w, &poll)) return poll;
    poll_watch(w, period, &items, &count);
    if (count) poll = items[0];
    free(items);
    if (!count) poll.op = warp_next(w, &mask);
    if (!poll.op) poll.op = w->frame->code->function->ops;
    if (!count) poll.lane = (uint8_t)lowest_bit(mask ? mask : w->lanes);
    return poll;
}

static void poll_describe(const struct watched *poll, struct text *text) {
    uint64_t value = 0;
    for (unsigned i = poll->bytes < sizeof value ? poll->bytes : sizeof value; i-- > 0;)
        value = value << 8 | poll->value[i];
    if (!poll->bytes)
        text_add(text, "loops without polling memory");
    else
        text_add(text, "polls %u bytes of %s memory at 0x%" PRIx64 " (0x%" PRIx64 ")", poll->bytes,
                 poll->space == PTX_SPACE_SHARED ? "shared" : "global", poll->address, value);
}

static void warp_name(const struct warp_state *w, struct text *text) {
    const uint32_t *cta = w->warp.cta->ctaid;
    text_add(text, "; block (%u,%u,%u) warp %u ", cta[0], cta[1], cta[2], w->index);
}

static bool repeats(const struct warp_state *w) { return w->status == WARP_READY || w->status == WARP_POLLS; }

static uint64_t warps_count(const struct run *run, const struct cta *ctas, uint32_t count, bool waiting) {
    uint64_t warps = 0;
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < run->warps; i++) {
            const struct warp_state *w = &ctas[c].warps[i];
            warps += waiting ? w->status == WARP_WAITING : repeats(w);
        }
    return warps;
}

void livelock_report(struct run *run, struct cta *ctas, uint32_t count, const char *reason) {
    struct text text = {0};
    struct watched first = {0};
    struct warp_state *spins = NULL;
    unsigned spinning = 0, waiting = 0;
    text_add(&text, "livelock: %s; %" PRIu64 " warps repeat a loop, %" PRIu64 " wait at barriers", reason,
             warps_count(run, ctas, count, false), warps_count(run, ctas, count, true));
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < run->warps; i++) {
            struct warp_state *w = &ctas[c].warps[i];
            if (repeats(w) && spinning++ < NAMED_WARPS) {
                struct watched poll = poll_of(w);
                if (!spins) spins = w, first = poll;
                warp_name(w, &text);
                poll_describe(&poll, &text);
                text_add(&text, " in line %u", poll.op->line);
            } else if (w->status == WARP_WAITING && waiting++ < NAMED_WARPS) {
                warp_name(w, &text);
                if (w->waits_barrier == CLUSTER_BARRIER)
                    text_add(&text, "waits at the barrier of its cluster in line %u", w->waits_at->line);
                else
                    text_add(&text, "waits at barrier %u in line %u", w->waits_barrier, w->waits_at->line);
            }
        }
    fault_set(spins, first.op, first.lane, "%s", text.bytes);
}

void livelock_check(struct run *run, struct cta *ctas, uint32_t count, bool overdue) {
    bool proved = true;
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < run->warps; i++) {
            struct warp_state *w = &ctas[c].warps[i];
            struct watched first;
            if (w->status != WARP_READY) continue;
            if (w->strand_count) return;
            if (poll_period(w)) continue;
            if (!overdue || !poll_suspected(w, &first)) return;
            proved = false;
        }
    struct text reason = {0};
    text_add(&reason, proved ? "no thread can store, change memory by an atomic, arrive at a barrier or exit"
                             : "no thread has stored, changed memory by an atomic, arrived at a barrier or exited");
    if (!proved)
        text_add(&reason, " for %" PRIu64 " warp instructions, and all warps read the same words again and again",
                 run->device->livelock_instructions);
    livelock_report(run, ctas, count, reason.bytes);
}
