#include "stream/prefix.h"

#include <stdlib.h>

struct prefix {
    struct stream_source source;
    struct stream_source *inner;
    uint64_t ctas;
};

static struct prefix *prefix_of(const struct stream_source *source) { return (struct prefix *)source; }

void prefix_grid(struct kernel *kernel, uint64_t ctas) {
    uint32_t cluster = kernel->cluster_ctas > 1 ? kernel->cluster_ctas : 1;
    uint64_t left = div_up(ctas, cluster) * cluster;
    if (left >= kernel_ctas(kernel)) return;
    kernel->grid[0] = (uint32_t)left;
    kernel->grid[1] = kernel->grid[2] = 1;
}

static bool next_kernel(struct stream_source *source, struct kernel *kernel) {
    struct prefix *prefix = prefix_of(source);
    prefix->inner->patience = source->patience;
    prefix->inner->patience_user = source->patience_user;
    if (!prefix->inner->ops->next_kernel(prefix->inner, kernel)) return false;
    prefix_grid(kernel, prefix->ctas);
    return true;
}

static void open_warp(struct stream_source *source, struct warp_stream *warp) {
    struct stream_source *inner = prefix_of(source)->inner;
    inner->ops->open(inner, warp);
}

static void refill(struct stream_source *source, struct warp_stream *warp) {
    struct stream_source *inner = prefix_of(source)->inner;
    inner->ops->refill(inner, warp);
}

static void restart(struct stream_source *source) {
    struct stream_source *inner = prefix_of(source)->inner;
    inner->ops->restart(inner);
}

static const char *failure(const struct stream_source *source) {
    const struct stream_source *inner = prefix_of(source)->inner;
    return inner->ops->failure ? inner->ops->failure(inner) : NULL;
}

/* Of a part of the program there are no results. */
static const char *check(struct stream_source *source, struct error *found) {
    (void)source, (void)found;
    return "none";
}

static void destroy(struct stream_source *source) {
    prefix_of(source)->inner->patience = NULL;
    free(source);
}

static const struct stream_ops ops = {
    .name = "prefix",
    .next_kernel = next_kernel,
    .open = open_warp,
    .refill = refill,
    .restart = restart,
    .failure = failure,
    .check = check,
    .destroy = destroy,
};

struct stream_source *prefix_create(struct stream_source *inner, uint64_t ctas) {
    struct prefix *prefix = mem_alloc(1, sizeof *prefix);
    *prefix = (struct prefix){.source.ops = &ops, .inner = inner, .ctas = ctas};
    return &prefix->source;
}
