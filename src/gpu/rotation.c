#include "gpu/rotation.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/machine_config.h"

void rotation_init(struct rotation *rotation, const struct config *config, unsigned sms, unsigned clusters) {
    const struct machine_config *values = config_get(config, &machine_section);
    *rotation = (struct rotation){
        .clusters = clusters,
        .sms_per_cluster = sms / clusters,
        .sm = mem_alloc(clusters, sizeof *rotation->sm),
        .served = mem_alloc(clusters, sizeof *rotation->served),
        .continues = values->cta_rotation_continues,
        .first = (unsigned)values->cta_first_cluster % clusters,
    };
    rotation->cluster = rotation->first;
}

void rotation_release(struct rotation *rotation) {
    free(rotation->sm);
    free(rotation->served);
}

void rotation_begin(struct rotation *rotation) {
    if (rotation->continues) return;
    rotation->cluster = rotation->first;
    memset(rotation->sm, 0, rotation->clusters * sizeof *rotation->sm);
}

void rotation_cycle(struct rotation *rotation) {
    memset(rotation->served, 0, rotation->clusters * sizeof *rotation->served);
}

int rotation_sm(const struct rotation *rotation, const struct cta_view *view, unsigned cluster, unsigned slots) {
    for (unsigned i = 0; i < rotation->sms_per_cluster; i++) {
        unsigned sm = cluster * rotation->sms_per_cluster + (rotation->sm[cluster] + i) % rotation->sms_per_cluster;
        if (view->free_slots[sm] >= slots) return (int)sm;
    }
    return -1;
}

int rotation_next(const struct rotation *rotation, const struct cta_view *view, unsigned slots) {
    for (unsigned i = 0; i < rotation->clusters; i++) {
        unsigned cluster = (rotation->cluster + i) % rotation->clusters;
        if (rotation->served[cluster]) continue;
        int sm = rotation_sm(rotation, view, cluster, slots);
        if (sm >= 0) return sm;
    }
    return -1;
}

void rotation_serve(struct rotation *rotation, unsigned sm) {
    unsigned cluster = sm / rotation->sms_per_cluster;
    rotation->served[cluster] = true;
    rotation->sm[cluster] = (sm % rotation->sms_per_cluster + 1) % rotation->sms_per_cluster;
    rotation->cluster = (cluster + 1) % rotation->clusters;
}
