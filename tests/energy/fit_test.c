/* The bundled tables against what DSENT and CACTI measured: within 15 % everywhere, and nothing is cheaper for being larger. */
#include <math.h>

#include "base/base.h"
#include "energy/energy.h"
#include "energy/reference.h"

static const double TOLERANCE = 0.15;

static void read_bundled(const char *name, const struct yaml_form *form, void *table) {
    struct error err = {0};
    bool good = table_read(name, form, table, &err);
    if (!good) CHECK_EQ(err.text, "");
    REQUIRE(good);
}

static struct router_shape router_row(const struct reference *row) {
    return (struct router_shape){(unsigned)reference_real(row, "n_in"), (unsigned)reference_real(row, "n_out"),
                                 8 * (unsigned)reference_real(row, "channel_B"), (unsigned)reference_real(row, "vcs"),
                                 (unsigned)reference_real(row, "bufs")};
}

TEST("every router measured with DSENT costs within 15 % of DSENT, per part and in total") {
    static const struct {
        const char *column;
        size_t quantity;
        double scale;
    } parts[] = {
#define PART(column, quantity, scale) {column, offsetof(struct router_table, quantity), scale}
        PART("e_bufwr_J", buffer_write_pj, 1e12),     PART("e_bufrd_J", buffer_read_pj, 1e12),
        PART("e_xbar_J", crossbar_pj, 1e12),          PART("e_sa1_J", vc_allocation_pj, 1e12),
        PART("e_sa2_J", switch_allocation_pj, 1e12),  PART("e_clk_J", clock_pj, 1e12),
        PART("leak_inport1_W", input_leak_mw, 1e3),   PART("leak_xbar_W", crossbar_leak_mw, 1e3),
        PART("leak_sa_W", allocator_leak_mw, 1e3),    PART("area_inport1_m2", input_area_mm2, 1e6),
        PART("area_xbar_m2", crossbar_area_mm2, 1e6), PART("area_sa_m2", allocator_area_mm2, 1e6),
    };
    struct router_table table = {0};
    struct reference row;
    read_bundled("router-22nm", &router_form, &table);
    REQUIRE(reference_open(&row, "dsent/dsent_routers.csv"));
    unsigned rows = 0;
    for (; reference_next(&row); rows++) {
        struct router_shape shape = router_row(&row);
        for (unsigned i = 0; i < COUNT_OF(parts); i++) {
            const struct router_sum *sum = (const void *)((const char *)&table + parts[i].quantity);
            CHECK_NEAR(router_value(sum, &shape), reference_real(&row, parts[i].column) * parts[i].scale, TOLERANCE);
        }
        CHECK_NEAR(router_leak_mw(&table, &shape), 1e3 * reference_real(&row, "leak_total_W"), TOLERANCE);
        CHECK_NEAR(router_area_mm2(&table, &shape), 1e6 * reference_real(&row, "area_total_m2"), TOLERANCE);
    }
    CHECK_EQ(rows, 41u);
}

TEST("every link measured with DSENT costs within 15 % of DSENT, in both layers at 22 and 45 nm") {
    struct reference row;
    struct link_table tables[4] = {0};
    static const char *const names[] = {"link-22nm-global", "link-22nm-intermediate", "link-45nm-global",
                                        "link-45nm-intermediate"};
    for (unsigned i = 0; i < 4; i++) read_bundled(names[i], &link_form, &tables[i]);
    REQUIRE(reference_open(&row, "dsent/dsent_links.csv"));
    unsigned rows = 0;
    for (; reference_next(&row); rows++) {
        bool late = strcmp(reference_text(&row, "tech"), "Bulk45LVT") == 0;
        bool intermediate = strcmp(reference_text(&row, "layer"), "Intermediate") == 0;
        const char *constraint = reference_text(&row, "delay_constraint");
        double cycles = strcmp(constraint, "loose4cyc") == 0 ? 4 : strcmp(constraint, "2cyc") == 0 ? 2 : 1;
        struct link_cost cost = link_cost(&tables[2 * late + intermediate], (unsigned)reference_real(&row, "bits"),
                                          reference_real(&row, "length_mm"), cycles * 1e6 / 1400);
        CHECK_NEAR(cost.pj, 1e12 * reference_real(&row, "e_send_J"), TOLERANCE);
        CHECK_NEAR(cost.leak_mw, 1e3 * reference_real(&row, "leak_W"), TOLERANCE);
        CHECK_NEAR(cost.area_mm2, 1e6 * reference_real(&row, "area_active_m2"), TOLERANCE);
        CHECK_NEAR(cost.wire_mm2, 1e6 * reference_real(&row, "area_wire_m2"), TOLERANCE);
    }
    CHECK_EQ(rows, 384u);
}

TEST("every cache with sequential tag access costs within 15 % of CACTI, at 22, 32 and 45 nm") {
    struct array_table tables[3] = {0};
    struct reference row;
    read_bundled("array-22nm", &array_form, &tables[0]);
    read_bundled("array-32nm", &array_form, &tables[1]);
    read_bundled("array-45nm", &array_form, &tables[2]);
    REQUIRE(reference_open(&row, "cacti/cacti_arrays.csv"));
    unsigned rows = 0;
    while (reference_next(&row)) {
        if (strcmp(reference_text(&row, "mode"), "sequential") != 0 || !*reference_text(&row, "read_nJ")) continue;
        rows++;
        double node = reference_real(&row, "tech");
        const struct array_table *table = &tables[node < 0.03 ? 0 : node < 0.04 ? 1 : 2];
        struct array_shape shape = {reference_real(&row, "size"), (unsigned)reference_real(&row, "assoc"),
                                    (unsigned)reference_real(&row, "bus")};
        double data_read = ARRAY_VALUE(table, data_read_pj, &shape), tag_read = ARRAY_VALUE(table, tag_read_pj, &shape);
        double data_leak = ARRAY_VALUE(table, data_leak_mw, &shape), tag_leak = ARRAY_VALUE(table, tag_leak_mw, &shape);
        double data_area = ARRAY_VALUE(table, data_area_mm2, &shape),
               tag_area = ARRAY_VALUE(table, tag_area_mm2, &shape);
        CHECK_NEAR(data_read, 1e3 * reference_real(&row, "data_read_nJ"), TOLERANCE);
        CHECK_NEAR(tag_read, 1e3 * reference_real(&row, "tag_read_nJ"), TOLERANCE);
        CHECK_NEAR(data_read + tag_read, 1e3 * reference_real(&row, "read_nJ"), TOLERANCE);
        CHECK_NEAR(ARRAY_VALUE(table, data_write_pj, &shape), 1e3 * reference_real(&row, "write_nJ"), TOLERANCE);
        CHECK_NEAR(tag_leak, reference_real(&row, "tag_leak_mW"), TOLERANCE);
        CHECK_NEAR(data_leak + tag_leak, reference_real(&row, "leak_mW"), TOLERANCE);
        CHECK_NEAR(data_area, reference_real(&row, "data_area_mm2"), TOLERANCE);
        CHECK_NEAR(tag_area, reference_real(&row, "tag_area_mm2"), TOLERANCE);
        CHECK_NEAR(data_area + tag_area, reference_real(&row, "total_area_mm2"), TOLERANCE);
    }
    CHECK_EQ(rows, 42u);
}

/* Every quantity of a router, at `shape`. */
static void router_all(const struct router_table *table, const struct router_shape *shape, double *value) {
#define Q(name) *value++ = router_value(&table->name, shape);
    ROUTER_QUANTITIES(Q)
#undef Q
}

TEST("more ports, a wider channel, more VCs or deeper buffers never make a part of a router cheaper") {
    enum { QUANTITIES = 14 };
    struct router_table table = {0};
    read_bundled("router-22nm", &router_form, &table);
    double before[QUANTITIES], after[QUANTITIES];
    for (unsigned ports = 2; ports <= 64; ports *= 2)
        for (unsigned bits = 32; bits <= 1024; bits *= 2)
            for (unsigned way = 0; way < 5; way++) {
                struct router_shape shape = {ports, ports, bits, 2, 4}, more = shape;
                *(way == 0   ? &more.inputs
                  : way == 1 ? &more.outputs
                  : way == 2 ? &more.bits
                  : way == 3 ? &more.vcs
                             : &more.vc_flits) += 1;
                router_all(&table, &shape, before);
                router_all(&table, &more, after);
                for (unsigned i = 0; i < QUANTITIES; i++) CHECK(after[i] >= before[i]);
                CHECK(router_leak_mw(&table, &more) > router_leak_mw(&table, &shape));
                CHECK(router_area_mm2(&table, &more) > router_area_mm2(&table, &shape));
            }
}

TEST("a larger or more associative cache is never cheaper, and a longer link costs more per flit") {
    struct array_table table = {0};
    struct link_table link = {0};
    read_bundled("array-22nm", &array_form, &table);
    read_bundled("link-22nm-global", &link_form, &link);
    for (double bytes = 1024; bytes <= 1 << 20; bytes *= 1.5)
        for (unsigned ways = 1; ways <= 32; ways *= 2)
            for (unsigned bits = 128; bits <= 2048; bits *= 2) {
                struct array_shape shape = {bytes, ways, bits}, larger = {bytes * 1.5, ways, bits},
                                   wider = {bytes, 2 * ways, bits};
#define Q(name) \
    CHECK(ARRAY_VALUE(&table, name, &larger) > ARRAY_VALUE(&table, name, &shape)); \
    CHECK(ARRAY_VALUE(&table, name, &wider) >= ARRAY_VALUE(&table, name, &shape));
                ARRAY_QUANTITIES(Q)
#undef Q
            }
    for (double mm = 0.25; mm < 20; mm += 0.25)
        CHECK(link_cost(&link, 256, mm + 0.25, 1428).pj > link_cost(&link, 256, mm, 1428).pj);
}

TEST("a link with a longer cycle needs no more repeaters") {
    struct link_table link = {0};
    read_bundled("link-22nm-global", &link_form, &link);
    for (double ps = 700; ps < 6000; ps += 100)
        CHECK(link_cost(&link, 256, 12.3, ps + 100).repeaters <= link_cost(&link, 256, 12.3, ps).repeaters);
    CHECK_EQ(link_cost(&link, 256, 12.3, 2e6 / 1400).repeaters, 2u);
    CHECK_NEAR(link_cost(&link, 256, 12.3, 2e6 / 1400).size, 10, 1e-9);
}
