#include "cache/rrip.h"

#include <stdlib.h>
#include <string.h>

void *rrip_create(size_t size, unsigned sets, unsigned ways, int64_t bits) {
    struct rrip *rrip = mem_alloc(1, size);
    *rrip = (struct rrip){.ways = ways,
                          .distant = (uint8_t)low_mask((unsigned)bits),
                          .prediction = mem_alloc_lines((size_t)sets * ways, sizeof *rrip->prediction)};
    return rrip;
}

void rrip_destroy(void *state) {
    struct rrip *rrip = state;
    free(rrip->prediction);
    free(rrip);
}

void rrip_touch(void *state, unsigned set, unsigned way, const struct cache_access *access) {
    (void)access;
    *rrip_prediction(state, set, way) = 0;
}

/* Ages all lines by the victim's distance to `distant`, as repeated steps of one would. */
void rrip_evict(void *state, unsigned set, unsigned way) {
    const struct rrip *rrip = state;
    uint8_t *prediction = rrip_prediction(rrip, set, 0), lacked = (uint8_t)(rrip->distant - prediction[way]);
    if (lacked == 0) return;
    for (unsigned i = 0; i < rrip->ways; i++) {
        uint8_t room = (uint8_t)(rrip->distant - prediction[i]);
        prediction[i] = (uint8_t)(prediction[i] + (room < lacked ? room : lacked));
    }
}

/* Searches the values in descending order with memchr, which is vectorised. */
int rrip_victim(void *state, unsigned set, const struct cache_line *lines) {
    const struct rrip *rrip = state;
    const uint8_t *first = rrip_prediction(rrip, set, 0), *end = first + rrip->ways;
    for (int value = rrip->distant; value >= 0; value--)
        for (const uint8_t *at = first; at < end && (at = memchr(at, value, (size_t)(end - at))); at++)
            if (lines[at - first].state != LINE_RESERVED) return (int)(at - first);
    return -1;
}
