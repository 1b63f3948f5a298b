/* Dynamic re-reference interval prediction (RRIP, ISCA 2010, section 4.3): set dueling between SRRIP and BRRIP. Some
 * leader sets always use SRRIP, as many always BRRIP; a saturating counter of their misses selects the policy of the
 * follower sets.
 *
 * The leaders are spread over the cache: it is divided into as many equal regions as there are leaders of a kind, and
 * each region has one of each kind, at an offset that shifts from region to region. The paper uses 32 leaders of each
 * kind in a cache of thousands of sets; the caches here have a few dozen sets. Each cache duels independently. Not
 * modelled: dueling per program. */
#include <stdlib.h>

#include "cache/rrip.h"

struct drrip_config {
    int64_t bits, one_in, leaders, counter_bits;
};

static const struct param params[] = {
    RRIP_BITS(struct drrip_config),
    RRIP_ONE_IN(struct drrip_config),
    P_INT(struct drrip_config, leaders, 4, 1, 4096, "sets", "leader sets of each policy"),
    P_INT(struct drrip_config, counter_bits, 10, 1, 30, "bits", "width of the policy selection counter"),
};

static const struct section drrip_section = {
    .path = "drrip",
    .help = "dynamic re-reference interval prediction",
    .params = params,
    .count = COUNT_OF(params),
    .size = sizeof(struct drrip_config),
};

enum role { FOLLOWER, STATIC_LEADER, BIMODAL_LEADER };

struct drrip {
    struct rrip rrip;
    struct bimodal bimodal;
    uint8_t *role;                       /* [sets] enum role */
    uint32_t counter, half, counter_max; /* from `half` on, the SRRIP leaders have missed more often */
};

static bool drrip_check(const struct config *config, const struct section *owner, unsigned sets, struct error *err) {
    const struct drrip_config *values = config_get_in(config, owner, &drrip_section);
    if (sets >= 2 * (uint64_t)values->leaders) return true;
    char key[64];
    snprintf(key, sizeof key, "%s.%s", owner->path, sets < 2 ? "replacement" : "drrip.leaders");
    if (sets < 2)
        return config_error(config, key, err, "drrip needs at least 2 sets and the cache has 1; use srrip or brrip");
    return config_error(config, key, err, "%lld leaders of each policy do not fit in %u sets; use at most %u",
                        (long long)values->leaders, sets, sets / 2);
}

static void *drrip_create(const void *values, unsigned sets, unsigned ways, uint64_t seed) {
    (void)seed;
    const struct drrip_config *config = values;
    struct drrip *drrip = rrip_create(sizeof *drrip, sets, ways, config->bits);
    drrip->bimodal.one_in = (unsigned)config->one_in;
    drrip->role = mem_alloc(sets, sizeof *drrip->role);
    drrip->counter_max = (uint32_t)low_mask((unsigned)config->counter_bits);
    drrip->counter = drrip->half = UINT32_C(1) << (config->counter_bits - 1);
    unsigned leaders = (unsigned)config->leaders, region = sets / leaders;
    assert(region >= 2);
    for (unsigned i = 0; i < leaders; i++) {
        drrip->role[i * region + i % region] = STATIC_LEADER;
        drrip->role[i * region + (i + region / 2) % region] = BIMODAL_LEADER;
    }
    return drrip;
}

static void drrip_destroy(void *state) {
    free(((struct drrip *)state)->role);
    rrip_destroy(state);
}

static void drrip_insert(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    struct drrip *drrip = state;
    enum role role = drrip->role[set];
    if (role == STATIC_LEADER && drrip->counter < drrip->counter_max) drrip->counter++;
    if (role == BIMODAL_LEADER && drrip->counter > 0) drrip->counter--;
    bool bimodal = role == BIMODAL_LEADER || (role == FOLLOWER && drrip->counter >= drrip->half);
    *rrip_prediction(&drrip->rrip, set, way) =
        bimodal ? bimodal_next(&drrip->bimodal, &drrip->rrip) : rrip_long(&drrip->rrip);
}

const struct replacement_ops replacement_drrip = {
    .policy = {"drrip", "SRRIP or BRRIP, selected by set dueling", &drrip_section},
    .check = drrip_check,
    .create = drrip_create,
    .destroy = drrip_destroy,
    .touch = rrip_touch,
    .insert = drrip_insert,
    .evict = rrip_evict,
    .victim = rrip_victim,
};
