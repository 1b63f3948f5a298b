#include "energy/router.h"

#include "base/base.h"

double router_value(const struct router_sum *sum, const struct router_shape *shape) {
    double I = shape->inputs, O = shape->outputs, W = shape->bits, V = shape->vcs, B = shape->vc_flits;
#define T(name, product) +sum->name *(product)
    return 0 ROUTER_TERMS(T);
#undef T
}

double router_leak_mw(const struct router_table *table, const struct router_shape *shape) {
    return shape->inputs * router_value(&table->input_leak_mw, shape) + router_value(&table->crossbar_leak_mw, shape) +
           router_value(&table->allocator_leak_mw, shape) + router_value(&table->register_leak_mw, shape);
}

struct router_area router_area(const struct router_table *table, const struct router_shape *shape) {
    return (struct router_area){
        .buffers = shape->inputs * router_value(&table->input_area_mm2, shape),
        .crossbar = router_value(&table->crossbar_area_mm2, shape),
        .allocators = router_value(&table->allocator_area_mm2, shape),
        .registers = router_value(&table->register_area_mm2, shape),
    };
}

double router_area_mm2(const struct router_table *table, const struct router_shape *shape) {
    struct router_area area = router_area(table, shape);
    return area.buffers + area.crossbar + area.allocators + area.registers;
}

static const struct yaml_key term_keys[] = {
#define T(name, product) TABLE_REAL(struct router_sum, name),
    ROUTER_TERMS(T)
#undef T
};
static const struct yaml_form sum_form = {.noun = "a sum", .keys = term_keys, .count = COUNT_OF(term_keys)};

/* Omitted terms are 0. */
static bool read_sum(struct yaml_reader *reader, void *user, void *to) {
    return yaml_read_form(reader, &sum_form, user, to, NULL);
}

static const struct yaml_key keys[] = {TABLE_HEAD,
#define Q(name_) {.param = {.name = #name_, .offset = offsetof(struct router_table, name_)}, .read = read_sum},
                                       ROUTER_QUANTITIES(Q)
#undef Q
};
const struct yaml_form router_form = {.noun = "a table of routers", .keys = keys, .count = COUNT_OF(keys)};
