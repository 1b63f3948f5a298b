/* Block CTA scheduling (Lee et al., "Improving GPGPU Resource Utilization Through Alternative Thread Block Scheduling",
 * HPCA 2014): blocks of consecutive CTAs run on one SM, so that neighbours share its L1. An SM receives a block only
 * when it has free slots for all of it; blocks are distributed round robin over clusters, then over SMs. The rest of
 * the grid forms a smaller last block. A block larger than an SM's capacity is cut to it.
 *
 * Not modelled: the paper's warp scheduler, which keeps the CTAs of a block at the same pace.
 */
#include <stdlib.h>

#include "gpu/rotation.h"
#include "sim/gpu_config.h"

struct bcs_config {
    int64_t block_ctas;
};

static const struct param params[] = {
    P_INT(struct bcs_config, block_ctas, 2, 1, 64, "CTAs", "consecutive CTAs in a block, dispatched to one SM"),
};

static const struct section bcs_section = {
    .path = "bcs",
    .help = "block CTA scheduling",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct bcs_config),
};

struct bcs {
    struct rotation rotation;
    uint64_t next;
    unsigned block; /* CTAs */
    unsigned left;  /* of the block being dispatched */
    unsigned sm;    /* that receives it */
    unsigned configured;
};

static void *bcs_create(const struct config *config, unsigned sms, unsigned clusters) {
    const struct bcs_config *values = config_get(config, &bcs_section);
    struct bcs *bcs = mem_alloc(1, sizeof *bcs);
    rotation_init(&bcs->rotation, config, sms, clusters);
    bcs->configured = (unsigned)values->block_ctas;
    return bcs;
}

static void bcs_destroy(void *state) {
    rotation_release(&((struct bcs *)state)->rotation);
    free(state);
}

static void bcs_begin(void *state, const struct cta_view *view) {
    struct bcs *bcs = state;
    bcs->next = 0;
    bcs->left = 0;
    bcs->block = bcs->configured < view->ctas_per_sm ? bcs->configured : view->ctas_per_sm;
    rotation_begin(&bcs->rotation);
}

static void bcs_cycle(void *state) { rotation_cycle(&((struct bcs *)state)->rotation); }

static bool bcs_choose(void *state, const struct cta_view *view, struct cta_choice *choice) {
    struct bcs *bcs = state;
    if (bcs->next == view->ctas) return false;
    if (bcs->left == 0) {
        unsigned block = (unsigned)min_u64(bcs->block, view->ctas - bcs->next);
        int sm = rotation_next(&bcs->rotation, view, block);
        if (sm < 0) return false;
        bcs->sm = (unsigned)sm;
        bcs->left = block;
        rotation_serve(&bcs->rotation, bcs->sm);
    }
    bcs->left--;
    *choice = (struct cta_choice){bcs->next++, bcs->sm};
    return true;
}

const struct cta_scheduler_ops cta_scheduler_bcs = {
    .policy = {"bcs", "blocks of consecutive CTAs on one SM", &bcs_section},
    .create = bcs_create,
    .destroy = bcs_destroy,
    .begin = bcs_begin,
    .cycle = bcs_cycle,
    .choose = bcs_choose,
};
