/* The SIMT stack of a warp: which lanes execute together.
 *
 * As in GPGPU-Sim 3.2.2: a divergent branch turns the top entry into one that waits at the branch's immediate
 * post-dominator and pushes an entry for each group. A path runs to its end before its sibling starts, so calls nest
 * properly: a function's paths are above those of its caller.
 *
 * With independent thread scheduling a warp may have several stacks, for disjoint sets of lanes (strand.c). */
#include "emu/cta.h"

void simt_push(struct warp_state *w, struct path path) {
    if (w->path_count == w->path_room) {
        w->path_room = w->path_room ? 2 * w->path_room : 16;
        w->paths = mem_grow(w->paths, w->path_room, sizeof *w->paths);
    }
    w->paths[w->path_count++] = path;
}

void simt_diverge(struct warp_state *w, const struct path *groups, unsigned count, uint32_t reconverge) {
    struct path *top = &w->paths[w->path_count - 1];
    if (top->reconverge == reconverge)
        w->path_count--; /* the entry below already waits there for all lanes */
    else
        top->pc = reconverge;
    for (unsigned i = 0; i < count; i++)
        if (groups[i].pc != reconverge) simt_push(w, (struct path){groups[i].pc, reconverge, groups[i].mask});
}

static void drop(struct warp_state *w, uint32_t first, uint32_t lanes) {
    for (uint32_t i = first; i < w->path_count; i++) w->paths[i].mask &= ~lanes;
}

void simt_return(struct warp_state *w, uint32_t lanes) { drop(w, w->frame->first_path, lanes); }

void simt_exit(struct warp_state *w, uint32_t lanes) {
    drop(w, 0, lanes);
    if (lanes) w->run->changed |= CHANGED_CONTROL;
    w->live &= ~lanes;
    w->lanes &= ~lanes;
}

bool simt_settle(struct warp_state *w) {
    for (;;) {
        while (w->path_count > w->frame->first_path) {
            const struct path *top = &w->paths[w->path_count - 1];
            if (top->mask && top->pc != top->reconverge) return true;
            w->path_count--;
        }
        if (w->frame_count == 1) return false;
        frame_pop(w);
    }
}
