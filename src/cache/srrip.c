/* Static re-reference interval prediction (RRIP, ISCA 2010, section 4.1): a new line is predicted long, so that a scan
 * of lines used once does not evict the working set; a hit sets the prediction to near. */
#include "cache/rrip.h"

struct srrip_config {
    int64_t bits;
    bool frequency;
};

static const struct param params[] = {
    RRIP_BITS(struct srrip_config),
    P_BOOL(struct srrip_config, frequency, false,
           "hits decrement the prediction (frequency priority); off: hits set it to 0 (hit priority)"),
};

static const struct section srrip_section = {
    .path = "srrip",
    .help = "static re-reference interval prediction",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct srrip_config),
};

struct srrip {
    struct rrip rrip;
    bool frequency;
};

static void *srrip_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)seed;
    const struct srrip_config *config = values;
    struct srrip *srrip = rrip_create(sizeof *srrip, sets, ways, config->bits);
    srrip->frequency = config->frequency;
    return srrip;
}

static void srrip_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    const struct srrip *srrip = state;
    uint8_t *prediction = rrip_prediction(&srrip->rrip, set, way);
    *prediction = (uint8_t)(srrip->frequency && *prediction ? *prediction - 1 : 0);
}

static void srrip_insert(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    const struct srrip *srrip = state;
    *rrip_prediction(&srrip->rrip, set, way) = rrip_long(&srrip->rrip);
}

const struct replacement_ops replacement_srrip = {
    .policy = {"srrip", "evicts a line with a distant predicted re-reference", &srrip_section},
    .create = srrip_create,
    .destroy = rrip_destroy,
    .touch = srrip_touch,
    .insert = srrip_insert,
    .evict = rrip_evict,
    .victim = rrip_victim,
};
