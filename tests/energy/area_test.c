/* Areas and leakage of networks and of added storage by hand, with a model whose coefficients are all different. */
#include "energy/made_up_model.h"
#include "energy/overhead.h"
#include "machine/runs.h"

/* A table of this size, as the tags of a cache of 4 ways with 4 bytes of tag for each of its lines of 128 bytes. */
static double by_tags(double quantity, double bytes) { return by_law(quantity, bytes / 4 * 128 / 1024, 4); }

TEST("storage costs the tags of a cache with as many bytes, once for each of its copies") {
    struct config *config = run_config("adaptive-80sm", SETTINGS("llc.organisation=adaptive"));
    struct energy_model model = made_up_model();
    struct overhead overhead;
    overhead_of(config, &model, &overhead);
    /* 3 bits for each of 768 lines of 64 slices; a directory of 432 bytes; 8 and 64 counters of 16 bits */
    static const struct { double copies, bytes; } rows[] = {{64, 288}, {1, 432}, {1, 16}, {1, 128}};
    REQUIRE(overhead.rows == COUNT_OF(rows));
    double bytes = 0, mm2 = 0, leak_mw = 0;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        const struct overhead_row *row = &overhead.row[i];
        CHECK_EQ(row->bytes, rows[i].copies * rows[i].bytes);
        CHECK_NEAR(row->mm2, rows[i].copies * by_tags(407, rows[i].bytes), 1e-9);
        CHECK_NEAR(row->leak_mw, rows[i].copies * by_tags(406, rows[i].bytes), 1e-9);
        bytes += row->bytes, mm2 += row->mm2, leak_mw += row->leak_mw;
    }
    CHECK_EQ(overhead.bytes, bytes);
    CHECK_NEAR(overhead.mm2, mm2, 1e-12);
    CHECK_NEAR(overhead.leak_mw, leak_mw, 1e-12);
    CHECK_EQ(overhead.llc_bytes, 6144 * 1024.0);
    CHECK_EQ(overhead.llc_tag_bytes, 64 * 288.0);
    CHECK_EQ(overhead.crossbar_mm2, 0.0); /* one channel */
    CHECK_EQ(overhead.link_mm2, 0.0);
    CHECK_NEAR(overhead.die_share, mm2 / 610, 1e-12);
    config_destroy(config);
}

TEST("slices that can hold any line of their controller need crossbars to its channels, with a link each way") {
    struct config *config =
        run_config("selrep-64sm", SETTINGS("llc.organisation=private", "energy.die_mm2=1000", "noc.channel_bytes=32"));
    struct energy_model model = made_up_model();
    const struct router_table *router = &model.router;
    model.link.repeater_area_mm2 = 0.5;
    model.router.crossbar_area_mm2.crosspoints = 3;
    model.router.input_area_mm2.stored_bits = 2;
    struct overhead overhead;
    overhead_of(config, &model, &overhead);
    /* At each of 4 controllers 16 slices and 8 channels of 256 bits; one flit of buffer at each of 16 and 8 inputs. */
    double input = router->input_area_mm2.one + 2 * 256;
    double rest =
        router->crossbar_area_mm2.one + 3 * 16 * 8 + router->allocator_area_mm2.one + router->register_area_mm2.one;
    CHECK_NEAR(overhead.crossbar_mm2, 4 * ((16 + 8) * input + 2 * rest), 1e-9);
    /* One repeater of size 1 per bit, which counts twice. */
    CHECK_NEAR(overhead.link_mm2, 4 * 2 * 16 * 256 * 0.5 * 2, 1e-9);
    CHECK_NEAR(overhead.die_share, (overhead.mm2 + overhead.crossbar_mm2 + overhead.link_mm2) / 1000, 1e-12);
    config_destroy(config);
    /* Lines that stay in their home slice need none. */
    config = run_config("selrep-64sm", NO_SETTINGS);
    overhead_of(config, &model, &overhead);
    CHECK_EQ(overhead.crossbar_mm2, 0.0);
    CHECK_EQ(overhead.link_mm2, 0.0);
    config_destroy(config);
    config =
        run_config("selrep-64sm", SETTINGS("llc.organisation=private", "dram.channels_per_mc=2", "dram.pae.masks=[]"));
    overhead_of(config, &model, &overhead);
    CHECK(overhead.crossbar_mm2 > 0);
    config_destroy(config);
}

TEST("the cost of a network is that of its routers and links, each by its parts") {
    struct config *config = run_config("adaptive-80sm", SETTINGS("noc.topology=hierarchical"));
    struct energy_model model = made_up_model();
    const struct router_table *router = &model.router;
    model.link.repeater_area_mm2 = 0.5;
    model.link.wire_area_mm2 = 0.125;
    struct network_shape shape = {80, 64, 8, 8};
    struct noc_cost cost = energy_noc_cost(&model, config, &shape);
    /* 8 SM-routers and 8 MC-routers in both directions: 10 and 8 inputs for requests, 8 and 8 for replies */
    double inputs = 8 * (10 + 8 + 8 + 8), routers = 32, short_links = 2 * (80 + 64), long_links = 2 * 64;
    double rest_mw = router->crossbar_leak_mw.one + router->allocator_leak_mw.one + router->register_leak_mw.one;
    CHECK_NEAR(cost.router.buffers, inputs * router->input_area_mm2.one, 1e-9);
    CHECK_NEAR(cost.router.crossbar, routers * router->crossbar_area_mm2.one, 1e-9);
    CHECK_NEAR(cost.router.allocators, routers * router->allocator_area_mm2.one, 1e-9);
    CHECK_NEAR(cost.router.registers, routers * router->register_area_mm2.one, 1e-9);
    CHECK_NEAR(cost.router_area_mm2,
               cost.router.buffers + cost.router.crossbar + cost.router.allocators + cost.router.registers, 1e-12);
    CHECK_NEAR(cost.router_watts, 1e-3 * (inputs * router->input_leak_mw.one + routers * rest_mw), 1e-9);
    CHECK_NEAR(cost.clock_watts, routers * 1.4e-3 * router->clock_pj.one, 1e-9);
    CHECK_NEAR(cost.link_area_mm2, (short_links + long_links) * 256 * 0.5 * 2, 1e-9);
    CHECK_NEAR(cost.wire_mm2, (short_links + 12.3 * long_links) * 256 * 0.125, 1e-9);
    CHECK_NEAR(cost.link_watts, 1e-3 * (short_links + long_links) * 256 * 0.25, 1e-9);
    config_destroy(config);
}

TEST("a concentrator adds a buffer for each endpoint, a multiplexer and an arbiter, a distributor a demultiplexer") {
    struct config *config = run_config("adaptive-80sm", SETTINGS("noc.topology=concentrated", "noc.concentration=4"));
    struct energy_model model = made_up_model();
    const struct router_table *router = &model.router;
    model.router.input_area_mm2.stored_bits = 2;
    model.router.crossbar_area_mm2.crosspoints = 3;
    model.link.repeater_area_mm2 = 0.5;
    struct network_shape shape = {80, 64, 8, 8};
    struct noc_cost cost = energy_noc_cost(&model, config, &shape);
    /* 80 + 64 endpoints with a buffer of 8 flits of 32 bytes each; routers of 20 x 16 and 16 x 20 ports */
    double input = router->input_area_mm2.one + 2 * 256 * 8, one = router->crossbar_area_mm2.one;
    CHECK_NEAR(cost.router.buffers, (80 + 64 + 20 + 16) * input, 1e-9);
    CHECK_NEAR(cost.router.crossbar, (20 + 16) * 2 * (one + 3 * 4) + 2 * (one + 3 * 20 * 16), 1e-9);
    CHECK_NEAR(cost.router.allocators, (20 + 16 + 2) * router->allocator_area_mm2.one, 1e-9);
    CHECK_NEAR(cost.router.registers, 2 * router->register_area_mm2.one, 1e-9);
    CHECK_NEAR(cost.router_area_mm2,
               cost.router.buffers + cost.router.crossbar + cost.router.allocators + cost.router.registers, 1e-12);
    CHECK_NEAR(cost.link_area_mm2, 2 * (80 + 64 + 20 + 16) * 256 * 0.5 * 2, 1e-9);
    config_destroy(config);
}

TEST("the width of an array\'s output is interpolated by its logarithm, unless the wider one is cheaper") {
    struct energy_model model = made_up_model();
    const struct array_table *table = &model.array;
    const struct {
        unsigned bits;
        double value;
    } rows[] = {{64, 401}, {256, 401}, {512, sqrt(401.0 * 501)}, {1024, 501}, {4096, 501}};
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct array_shape shape = {65536, 4, rows[i].bits};
        CHECK_NEAR(ARRAY_VALUE(table, data_read_pj, &shape), by_law(rows[i].value, 64, 4), 1e-9);
    }
    /* Below one: as above. */
    model.array.bits_256.data_read_pj.scale = 1e-6, model.array.bits_1024.data_read_pj.scale = 4e-6;
    struct array_shape shape = {65536, 4, 512};
    CHECK_NEAR(ARRAY_VALUE(table, data_read_pj, &shape), by_law(2e-6, 64, 4), 1e-9);
    /* The wider one is cheaper: the nearer one counts. */
    model.array.bits_1024.data_read_pj.scale = 1e-7;
    shape.bits = 400;
    CHECK_NEAR(ARRAY_VALUE(table, data_read_pj, &shape), by_law(1e-6, 64, 4), 1e-9);
    shape.bits = 512;
    CHECK_NEAR(ARRAY_VALUE(table, data_read_pj, &shape), by_law(1e-7, 64, 4), 1e-9);
    /* The factor of small arrays applies below 32 KB. */
    model.array.bits_256.data_read_pj.small = 0.5;
    shape = (struct array_shape){32768, 4, 256};
    CHECK_NEAR(ARRAY_VALUE(table, data_read_pj, &shape), by_law(1e-6, 32, 4), 1e-9);
    shape.bytes = 32767;
    CHECK_NEAR(ARRAY_VALUE(table, data_read_pj, &shape), 0.5 * by_law(1e-6, 32767 / 1024.0, 4), 1e-9);
}

TEST("a table without bytes costs nothing") {
    struct energy_model model = made_up_model();
    CHECK_EQ(array_table_read_pj(&model.array, 0), 0.0);
    CHECK_EQ(array_table_area_mm2(&model.array, 0), 0.0);
    CHECK_EQ(array_table_leak_mw(&model.array, 0), 0.0);
    CHECK_NEAR(array_table_read_pj(&model.array, 0.5), by_tags(405, 0.5), 1e-9);
}

TEST("a link takes the fewest repeaters that meet the time, of the smallest size, else the fastest number") {
    struct link_table table = {.wire_pj = 2,
                               .repeater_pj = 3,
                               .repeater_leak_mw = 5,
                               .repeater_ps = 1,
                               .wire_ps = 4,
                               .drive_ps = 6,
                               .load_ps = 0.5,
                               .sizes_percent = {2, {100, 200}}};
    /* On 3 mm: 36 / n + n + 3 × (6 / s + s / 2) picoseconds. The lowest delay is that of 6 repeaters. */
    static const struct {
        double ps;
        unsigned repeaters;
        double size;
    } rows[] = {
        {56.5, 1, 1}, {56.4, 1, 2}, {49, 1, 2},   {48.9, 2, 1}, {39.5, 2, 1}, {39.4, 2, 2}, {32, 2, 2},
        {31.9, 3, 2}, {27, 3, 2},   {26.9, 4, 2}, {24, 6, 2},   {23.9, 6, 1}, {0, 6, 1},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct link_cost cost = link_cost(&table, 10, 3, rows[i].ps);
        if (!CHECK_EQ(cost.repeaters, rows[i].repeaters) || !CHECK_EQ(cost.size, rows[i].size))
            printf("      %g ps\n", rows[i].ps);
        double strength = 10 * rows[i].repeaters * rows[i].size;
        CHECK_NEAR(cost.pj, 2 * 10 * 3 + 3 * strength, 1e-12);
        CHECK_NEAR(cost.leak_mw, 5 * strength, 1e-12);
    }
    /* A link of 1 km has 10,000 repeaters and not more. */
    CHECK_EQ(link_cost(&table, 10, 1e6, 0).repeaters, 10000u);
    /* Without a length there is still one repeater. */
    CHECK_EQ(link_cost(&table, 10, 0, 0).repeaters, 1u);
}
