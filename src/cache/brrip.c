/* Bimodal re-reference interval prediction (RRIP, ISCA 2010, section 4.2): most new lines are predicted distant and are
 * evicted first; every 32nd is predicted long, so that part of a working set larger than the cache is retained. The
 * paper draws that line at random; here it is every 32nd line inserted into the cache. */
#include "cache/rrip.h"

struct brrip_config {
    int64_t bits, one_in;
};

static const struct param params[] = {
    RRIP_BITS(struct brrip_config),
    RRIP_ONE_IN(struct brrip_config),
};

static const struct section brrip_section = {
    .path = "brrip",
    .help = "bimodal re-reference interval prediction",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct brrip_config),
};

struct brrip {
    struct rrip rrip;
    struct bimodal bimodal;
};

static void *brrip_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)seed;
    const struct brrip_config *config = values;
    struct brrip *brrip = rrip_create(sizeof *brrip, sets, ways, config->bits);
    brrip->bimodal.one_in = (unsigned)config->one_in;
    return brrip;
}

static void brrip_insert(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    struct brrip *brrip = state;
    *rrip_prediction(&brrip->rrip, set, way) = bimodal_next(&brrip->bimodal, &brrip->rrip);
}

const struct replacement_ops replacement_brrip = {
    .policy = {"brrip", "SRRIP that inserts most lines with a distant prediction", &brrip_section},
    .create = brrip_create,
    .destroy = rrip_destroy,
    .touch = rrip_touch,
    .insert = brrip_insert,
    .evict = rrip_evict,
    .victim = rrip_victim,
};
