#include "stream/selection.h"

#include <stdlib.h>

struct selection {
    struct stream_source source;
    struct stream_source *inner;
    uint64_t hidden, first, last, launches;
    const bool *wanted;
};

static struct selection *selection_of(struct stream_source *source) { return (struct selection *)source; }

static bool is_wanted(const struct selection *selection, uint64_t launch) {
    return launch >= selection->first && launch <= selection->last &&
           (!selection->wanted || selection->wanted[launch - selection->first]);
}

static bool reads(const void *user, uint64_t number) {
    const struct selection *selection = user;
    return is_wanted(selection, selection->hidden + number);
}

/* What the consumer has set concerns the program. */
static void forward(struct selection *selection) {
    selection->inner->patience = selection->source.patience;
    selection->inner->patience_user = selection->source.patience_user;
    selection->inner->in_step = selection->source.in_step;
    selection->inner->max_instructions = selection->source.max_instructions;
    selection->inner->reads = reads;
    selection->inner->reads_user = selection;
}

static bool next_kernel(struct stream_source *source, struct kernel *kernel) {
    struct selection *selection = selection_of(source);
    forward(selection);
    while (selection->launches < selection->last && selection->inner->ops->next_kernel(selection->inner, kernel)) {
        if (!is_wanted(selection, ++selection->launches)) continue;
        kernel->number = (uint32_t)selection->launches;
        return true;
    }
    return false;
}

static void open_warp(struct stream_source *source, struct warp_stream *warp) {
    struct stream_source *inner = selection_of(source)->inner;
    inner->ops->open(inner, warp);
}

static void refill(struct stream_source *source, struct warp_stream *warp) {
    struct stream_source *inner = selection_of(source)->inner;
    inner->ops->refill(inner, warp);
}

static void restart(struct stream_source *source) {
    struct selection *selection = selection_of(source);
    selection->launches = selection->hidden;
    forward(selection);
    selection->inner->ops->restart(selection->inner);
}

static const char *failure(const struct stream_source *source) {
    const struct stream_source *inner = ((const struct selection *)source)->inner;
    return inner->ops->failure ? inner->ops->failure(inner) : NULL;
}

static uint64_t violations(const struct stream_source *source, struct error *first) {
    const struct stream_source *inner = ((const struct selection *)source)->inner;
    return inner->ops->violations ? inner->ops->violations(inner, first) : 0;
}

static const char *check(struct stream_source *source, struct error *found) {
    struct stream_source *inner = selection_of(source)->inner;
    return inner->ops->check(inner, found);
}

static void destroy(struct stream_source *source) {
    struct selection *selection = selection_of(source);
    selection->inner->patience = NULL;
    selection->inner->reads = NULL;
    free(selection);
}

static const struct stream_ops ops = {
    .name = "selection",
    .next_kernel = next_kernel,
    .open = open_warp,
    .refill = refill,
    .restart = restart,
    .failure = failure,
    .violations = violations,
    .check = check,
    .destroy = destroy,
};

struct stream_source *selection_create(struct stream_source *inner, uint64_t hidden, uint64_t first, uint64_t last,
                                       const bool *wanted) {
    struct selection *selection = mem_alloc(1, sizeof *selection);
    *selection = (struct selection){.source.ops = &ops,
                                    .inner = inner,
                                    .hidden = hidden,
                                    .first = first,
                                    .last = last,
                                    .launches = hidden,
                                    .wanted = wanted};
    return &selection->source;
}

uint64_t selection_launches(const struct stream_source *source) { return ((const struct selection *)source)->launches; }
