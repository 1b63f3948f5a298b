/* A model whose coefficients are all different, so that a term taken for another one shows. */
#ifndef SLUICE_TESTS_ENERGY_MADE_UP_MODEL_H
#define SLUICE_TESTS_ENERGY_MADE_UP_MODEL_H

#include <math.h>

#include "energy/energy.h"

/* Coefficients in order of their declaration: of a GPU from 101 on, of a memory from 201, of routers from 301 for any
 * shape, of arrays from 401 and 501 by their output width. */
static inline struct energy_model made_up_model(void) {
    struct energy_model model = {0};
    double next = 101;
#define C(name) model.gpu.name = next++;
    GPU_COEFFICIENTS(C)
    next = 201;
#undef C
#define C(name) model.dram.name = next++;
    DRAM_COEFFICIENTS(C)
#undef C
    next = 301;
#define Q(name) model.router.name.one = next++;
    ROUTER_QUANTITIES(Q)
#undef Q
    next = 401;
#define Q(name) model.array.bits_256.name = (struct array_law){.scale = next++, .bytes = 0.5, .ways = 0.25, .small = 1};
    ARRAY_QUANTITIES(Q)
#undef Q
    next = 501;
#define Q(name) \
    model.array.bits_1024.name = (struct array_law){.scale = next++, .bytes = 0.5, .ways = 0.25, .small = 1};
    ARRAY_QUANTITIES(Q)
#undef Q
    model.link = (struct link_table){.wire_pj = 7, .repeater_leak_mw = 0.25, .sizes_percent = {1, {100}}};
    return model;
}

/* A cache of this capacity and associativity, by the laws of made_up_model(): quantity × √bytes × ∜ways. */
static inline double by_law(double quantity, double kb, double ways) {
    return quantity * sqrt(1024 * kb) * pow(ways, 0.25);
}

#endif
