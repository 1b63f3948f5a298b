/* Every term of the account by hand: one counter at a time, with a model whose coefficients are all different. */
#include <math.h>

#include "energy/made_up_model.h"
#include "machine/runs.h"

/* The book of a run of one second without events, except for `count` of this counter. */
static struct energy_book book_with(const struct config *config, const char *counter, uint64_t count) {
    static const struct network_shape shape = {80, 64, 8, 8};
    struct energy_model model = made_up_model();
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s", counter);
    *strchr(prefix, '.') = '\0';
    struct stat row = {strchr(counter, '.') + 1, "events", "", STAT_SUM};
    struct stat_table table = {prefix, &row, 1};
    struct stats *stats = stats_create();
    stats_add(stats, &table, &count);
    struct energy_book book;
    energy_account(&model, config, &shape, stats, 1400000000, &book);
    stats_destroy(stats);
    return book;
}

struct term {
    const char *counter;
    enum energy_part part;
    double pj;
};

/* A thousand events cost their picojoules in this part, and nothing in any other. */
static void check_terms(const struct config *config, const struct term *term, size_t terms) {
    struct energy_book none = book_with(config, "x.y", 0);
    for (size_t i = 0; i < terms; i++) {
        struct energy_book book = book_with(config, term[i].counter, 1000);
        for (unsigned part = 0; part < ENERGY_PART_COUNT; part++) {
            double pj = 1e9 * (book.part[part].events - none.part[part].events);
            bool good = part == term[i].part ? CHECK_NEAR(pj, term[i].pj, 1e-9) : CHECK_EQ(pj, 0.0);
            if (!good) printf("      %s in %s\n", term[i].counter, energy_parts[part].name);
            CHECK_EQ(book.part[part].time, none.part[part].time);
        }
    }
}

TEST("each event of memory and of caches measured on hardware costs its coefficient") {
    struct energy_model model = made_up_model();
    const struct gpu_table *gpu = &model.gpu;
    const struct term terms[] = {
        {"sm.warp_instructions", ENERGY_issue, gpu->instruction_pj + gpu->schedule_pj},
        {"sm.thread_instructions", ENERGY_registers,
         gpu->register_reads * gpu->register_read_pj + gpu->register_writes * gpu->register_write_pj},
        {"sm.instruction_hits", ENERGY_sm_caches, gpu->instruction_hit_pj},
        {"sm.instruction_misses", ENERGY_sm_caches, gpu->instruction_miss_pj},
        {"sm.constant_hits", ENERGY_sm_caches, gpu->constant_hit_pj},
        {"sm.constant_misses", ENERGY_sm_caches, gpu->constant_miss_pj},
        {"sm.read_only_hits", ENERGY_sm_caches, gpu->read_only_pj},
        {"sm.read_only_misses", ENERGY_sm_caches, gpu->read_only_pj},
        {"sm.shared_accesses", ENERGY_shared_memory, gpu->shared_pj},
        {"l1.read_hits", ENERGY_l1, gpu->l1_read_hit_pj},
        {"l1.read_pending_hits", ENERGY_l1, gpu->l1_read_hit_pj},
        {"l1.read_misses", ENERGY_l1, gpu->l1_read_miss_pj},
        {"l1.read_bypasses", ENERGY_l1, gpu->l1_read_miss_pj},
        {"l1.write_hits", ENERGY_l1, gpu->l1_write_hit_pj},
        {"l1.write_misses", ENERGY_l1, gpu->l1_write_miss_pj},
        {"llc.read_hits", ENERGY_llc, gpu->llc_read_hit_pj},
        {"llc.read_pending_hits", ENERGY_llc, gpu->llc_read_hit_pj},
        {"llc.read_misses", ENERGY_llc, gpu->llc_read_miss_pj},
        {"llc.write_hits", ENERGY_llc, gpu->llc_write_hit_pj},
        {"llc.write_misses", ENERGY_llc, gpu->llc_write_miss_pj},
        {"llc.atomic_hits", ENERGY_llc, gpu->llc_write_hit_pj},
        {"llc.atomic_misses", ENERGY_llc, gpu->llc_write_miss_pj},
        {"atomics.atomic_hits", ENERGY_llc, gpu->llc_write_hit_pj},
        {"atomics.atomic_misses", ENERGY_llc, gpu->llc_write_miss_pj},
        {"dram.activates", ENERGY_dram, model.dram.activate_pj},
        {"dram.read_bytes", ENERGY_dram, model.dram.read_pj_per_byte},
        {"dram.write_bytes", ENERGY_dram, model.dram.write_pj_per_byte},
        {"dram.refreshes", ENERGY_dram, model.dram.refresh_pj},
    };
    struct config *config = run_config("adaptive-80sm", SETTINGS("energy.measured_caches=true"));
    check_terms(config, terms, COUNT_OF(terms));
    config_destroy(config);
}

TEST("each event of a cache by its geometry costs a tag lookup, and reads or writes of a line as wide as its port") {
    /* L1: 48 KB of 6 ways, a line in one access. A slice: 96 KB of 16 ways, a line of 128 bytes in 4 accesses. */
    double tag = by_law(505, 48, 6), read = by_law(501, 48, 6), write = by_law(502, 48, 6);
    double far_tag = by_law(405, 96, 16), far_read = 4 * by_law(401, 96, 16), far_write = 4 * by_law(402, 96, 16);
    /* The LLC for atomics: 16 KB of 16 ways, with the port of a slice. */
    double apart_tag = by_law(405, 16, 16), apart_read = 4 * by_law(401, 16, 16), apart_write = 4 * by_law(402, 16, 16);
    const struct term terms[] = {
        {"l1.read_hits", ENERGY_l1, tag + read},
        {"l1.read_pending_hits", ENERGY_l1, tag + read},
        {"l1.read_misses", ENERGY_l1, tag},
        {"l1.write_hits", ENERGY_l1, tag},
        {"l1.write_misses", ENERGY_l1, tag},
        {"l1.icc.served", ENERGY_l1, tag},
        {"l1.icc.served_hits", ENERGY_l1, read},
        {"l1.write_backs", ENERGY_l1, read},
        {"l1.fills", ENERGY_l1, write},
        {"llc.read_hits", ENERGY_llc, far_tag},
        {"llc.read_pending_hits", ENERGY_llc, far_tag},
        {"llc.read_misses", ENERGY_llc, far_tag},
        {"llc.write_hits", ENERGY_llc, far_tag + far_write},
        {"llc.write_misses", ENERGY_llc, far_tag + far_write},
        {"llc.atomic_hits", ENERGY_llc, far_tag + far_write},
        {"llc.atomic_misses", ENERGY_llc, far_tag + far_write},
        {"llc.data_replies", ENERGY_llc, far_read},
        {"llc.write_backs", ENERGY_llc, far_read},
        {"llc.atomics_forwarded", ENERGY_llc, -far_read}, /* its data reply is that of the LLC for atomics */
        {"llc.fills", ENERGY_llc, far_write},
        {"atomics.atomic_hits", ENERGY_llc, apart_tag + apart_write},
        {"atomics.atomic_misses", ENERGY_llc, apart_tag + apart_write},
        {"atomics.data_replies", ENERGY_llc, apart_read},
        {"atomics.write_backs", ENERGY_llc, apart_read},
        {"atomics.fills", ENERGY_llc, apart_write},
    };
    struct config *config =
        run_config("adaptive-80sm", SETTINGS("energy.measured_caches=false", "llc.organisation=private"));
    check_terms(config, terms, COUNT_OF(terms));
    struct energy_book book = book_with(config, "x.y", 0);
    CHECK_NEAR(book.part[ENERGY_l1].time, 80e-3 * (by_law(503, 48, 6) + by_law(506, 48, 6)), 1e-9);
    CHECK_NEAR(book.part[ENERGY_llc].time,
               64e-3 * (by_law(403, 96, 16) + by_law(406, 96, 16)) + 8e-3 * (by_law(403, 16, 16) + by_law(406, 16, 16)),
               1e-9);
    config_destroy(config);
}

TEST("a probe of another group costs its L1 a tag lookup, and the read of a line if it has it") {
    struct config *config = run_config("adaptive-80sm", SETTINGS("energy.measured_caches=true"));
    struct energy_model model = made_up_model();
    double tag = by_law(505, 48, 6);
    const struct term terms[] = {{"l1.icc.served", ENERGY_l1, tag},
                                 {"l1.icc.served_hits", ENERGY_l1, model.gpu.l1_read_hit_pj - tag}};
    check_terms(config, terms, COUNT_OF(terms));
    config_destroy(config);
}

TEST("an instruction costs its operation in each of its lanes, of which all instructions have the same number") {
    struct energy_model model = made_up_model();
    const struct gpu_table *gpu = &model.gpu;
    const struct {
        const char *op;
        double pj;
    } rows[] = {
        {"op.other", gpu->int_pj},
        {"op.int_add", gpu->int_pj},
        {"op.int_minmax", gpu->int_pj},
        {"op.int_mul", gpu->int_mul_pj},
        {"op.int_mad", gpu->int_mul_pj},
        {"op.int_div", gpu->special_pj},
        {"op.f32_add", gpu->f32_pj},
        {"op.f32_minmax", gpu->f32_pj},
        {"op.f32_mul", gpu->f32_mul_pj},
        {"op.f32_fma", gpu->f32_mul_pj},
        {"op.f32_div", gpu->special_pj},
        {"op.f64_add", gpu->f64_pj},
        {"op.f64_minmax", gpu->f64_pj},
        {"op.f64_mul", gpu->f64_mul_pj},
        {"op.f64_fma", gpu->f64_mul_pj},
        {"op.f64_div", gpu->special_pj},
        {"op.special", gpu->special_pj},
        {"op.load", 0},
        {"op.store", 0},
        {"op.barrier", 0},
        {"op.exit", 0},
        {"op.tensor", 0},
    };
    static const struct network_shape shape = {80, 64, 8, 8};
    struct config *config = run_config("adaptive-80sm", NO_SETTINGS);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stat row[] = {{"warp_instructions", "", "", STAT_SUM},
                             {"thread_instructions", "", "", STAT_SUM},
                             {rows[i].op, "", "", STAT_SUM}};
        struct stat_table table = {"sm", row, 3};
        uint64_t count[] = {1000, 24000, 500};
        struct stats *stats = stats_create();
        stats_add(stats, &table, count);
        struct energy_book book;
        energy_account(&model, config, &shape, stats, 1, &book);
        stats_destroy(stats);
        if (!CHECK_NEAR(1e12 * book.part[ENERGY_arithmetic].events, 500 * 24 * rows[i].pj, 1e-9))
            printf("      %s\n", rows[i].op);
    }
    config_destroy(config);
}

TEST("a tensor instruction costs its multiply-adds") {
    struct energy_model model = made_up_model();
    struct config *config = run_config("adaptive-80sm", NO_SETTINGS);
    const struct term terms[] = {{"sm.tensor_multiply_adds", ENERGY_arithmetic, model.gpu.tensor_pj}};
    check_terms(config, terms, COUNT_OF(terms));
    config_destroy(config);
}

/* 32 bytes at 7 pJ per bit and millimetre. */
#define LINK_PJ(mm) (256 * 7 * (mm))

TEST("each event of a router costs its coefficient, and a flit the length of its link") {
    struct energy_model model = made_up_model();
    const struct router_table *router = &model.router;
    const struct {
        const char *event;
        enum energy_part part;
        double pj;
    } events[] = {{"buffer_writes", ENERGY_noc_routers, router->buffer_write_pj.one},
                  {"buffer_reads", ENERGY_noc_routers, router->buffer_read_pj.one},
                  {"vc_allocations", ENERGY_noc_routers, router->vc_allocation_pj.one},
                  {"switch_allocations", ENERGY_noc_routers, router->switch_allocation_pj.one},
                  {"crossbar_traversals", ENERGY_noc_routers, router->crossbar_pj.one}};
    /* The links between the stages are long. */
    static const struct {
        const char *routers;
        double link_mm;
    } groups[] = {{"noc.request.sm_router", 12.3},
                  {"noc.request.mc_router", 1},
                  {"noc.reply.mc_router", 12.3},
                  {"noc.reply.sm_router", 1}};
    struct config *config = run_config("adaptive-80sm", SETTINGS("noc.topology=hierarchical"));
    for (size_t g = 0; g < COUNT_OF(groups); g++) {
        char name[64];
        for (size_t e = 0; e < COUNT_OF(events); e++) {
            snprintf(name, sizeof name, "%s.%s", groups[g].routers, events[e].event);
            check_terms(config, &(struct term){name, events[e].part, events[e].pj}, 1);
        }
        snprintf(name, sizeof name, "%s.link_traversals", groups[g].routers);
        check_terms(config, &(struct term){name, ENERGY_noc_links, LINK_PJ(groups[g].link_mm)}, 1);
    }
    const struct term injected[] = {{"noc.request.flits_injected", ENERGY_noc_links, LINK_PJ(1)},
                                    {"noc.reply.flits_injected", ENERGY_noc_links, LINK_PJ(1)}};
    check_terms(config, injected, COUNT_OF(injected));
    config_destroy(config);
    /* In a single crossbar the links of the SMs are long, in both directions. */
    config = run_config("adaptive-80sm", SETTINGS("noc.topology=full"));
    const struct term full[] = {{"noc.request.flits_injected", ENERGY_noc_links, LINK_PJ(12.3)},
                                {"noc.request.router.link_traversals", ENERGY_noc_links, LINK_PJ(1)},
                                {"noc.reply.flits_injected", ENERGY_noc_links, LINK_PJ(1)},
                                {"noc.reply.router.link_traversals", ENERGY_noc_links, LINK_PJ(12.3)}};
    check_terms(config, full, COUNT_OF(full));
    config_destroy(config);
}

static double event_pj(const struct config *config, const char *counter, enum energy_part part) {
    struct energy_book none = book_with(config, "x.y", 0), book = book_with(config, counter, 1000);
    return 1e9 * (book.part[part].events - none.part[part].events);
}

TEST("a flit of a concentrated crossbar also costs a concentrator, a distributor, and a short link to each endpoint") {
    struct energy_model model = made_up_model();
    const struct router_table *router = &model.router;
    struct config *config = run_config("adaptive-80sm", SETTINGS("noc.topology=concentrated", "noc.concentration=2"));
    double concentrator = router->buffer_write_pj.one + router->buffer_read_pj.one + router->crossbar_pj.one;
    const struct term links[] = {{"noc.request.flits_injected", ENERGY_noc_links, LINK_PJ(1 + 12.3)},
                                 {"noc.request.router.link_traversals", ENERGY_noc_links, LINK_PJ(1)},
                                 {"noc.request.flits_ejected", ENERGY_noc_links, LINK_PJ(1)},
                                 {"noc.reply.flits_injected", ENERGY_noc_links, LINK_PJ(1 + 1)},
                                 {"noc.reply.router.link_traversals", ENERGY_noc_links, LINK_PJ(12.3)},
                                 {"noc.reply.flits_ejected", ENERGY_noc_links, LINK_PJ(1)}},
                      routers[] = {
                          {"noc.request.flits_injected", ENERGY_noc_routers, concentrator},
                          {"noc.request.packets_injected", ENERGY_noc_routers, router->switch_allocation_pj.one},
                          {"noc.request.flits_ejected", ENERGY_noc_routers, router->crossbar_pj.one},
                          {"noc.reply.flits_injected", ENERGY_noc_routers, concentrator},
                          {"noc.reply.packets_injected", ENERGY_noc_routers, router->switch_allocation_pj.one},
                          {"noc.reply.flits_ejected", ENERGY_noc_routers, router->crossbar_pj.one}};
    for (unsigned i = 0; i < COUNT_OF(links); i++)
        CHECK_NEAR(event_pj(config, links[i].counter, links[i].part), links[i].pj, 1e-9);
    for (unsigned i = 0; i < COUNT_OF(routers); i++)
        CHECK_NEAR(event_pj(config, routers[i].counter, routers[i].part), routers[i].pj, 1e-9);
    /* 40 + 32 concentrators with two buffers each, and as many distributors; a router of 40 and one of 32 inputs. */
    struct energy_book book = book_with(config, "x.y", 0);
    double rest_mw = router->crossbar_leak_mw.one + router->allocator_leak_mw.one + router->register_leak_mw.one;
    double clock_mw = 1.4 * router->clock_pj.one, input_mw = router->input_leak_mw.one;
    CHECK_NEAR(book.part[ENERGY_noc_routers].time,
               1e-3 * ((40 + 32) * (2 * input_mw + 2 * router->crossbar_leak_mw.one + router->allocator_leak_mw.one) +
                       (40 + 32) * input_mw + 2 * (rest_mw + clock_mw)),
               1e-9);
    /* 80 + 64 links to endpoints on either side, 40 + 32 to and from the routers; one repeater per bit. */
    CHECK_NEAR(book.part[ENERGY_noc_links].time, 1e-3 * (2 * (80 + 64) + 2 * (40 + 32)) * 256 * 0.25, 1e-9);
    config_destroy(config);
}

TEST("routers leak and are clocked, except while gated; links leak; SMs, channels and the board draw their power") {
    struct energy_model model = made_up_model();
    const struct router_table *router = &model.router;
    struct config *config =
        run_config("adaptive-80sm", SETTINGS("noc.topology=hierarchical", "energy.gated_leak=0.25"));
    struct energy_book book = book_with(config, "x.y", 0);
    CHECK_NEAR(book.seconds, 1, 1e-12);
    /* SM-routers have 10 inputs for requests and 8 for replies, MC-routers 8 and 8; there are 8 of each. */
    double rest_mw = router->crossbar_leak_mw.one + router->allocator_leak_mw.one + router->register_leak_mw.one;
    double input_mw = router->input_leak_mw.one, clock_mw = 1.4 * router->clock_pj.one;
    CHECK_NEAR(book.part[ENERGY_noc_routers].time, 8e-3 * ((10 + 3 * 8) * input_mw + 4 * (rest_mw + clock_mw)), 1e-9);
    /* 80 + 64 links to and from the network on either side, 2 × 64 between the stages; one repeater per bit. */
    CHECK_NEAR(book.part[ENERGY_noc_links].time, 1e-3 * (2 * (80 + 64) + 2 * 64) * 256 * 0.25, 1e-9);
    CHECK_NEAR(book.part[ENERGY_sm_idle].time, 80 * model.gpu.sm_watts, 1e-9);
    CHECK_NEAR(book.part[ENERGY_constant].time, model.gpu.constant_watts, 1e-9);
    /* 8 controllers */
    CHECK_NEAR(book.part[ENERGY_dram].time, 8e-3 * model.dram.channel_milliwatts, 1e-9);
    CHECK_NEAR(energy_noc(&book), book.part[ENERGY_noc_routers].time + book.part[ENERGY_noc_links].time, 1e-12);
    /* One MC-router is off for half a second. */
    struct energy_book gated = book_with(config, "noc.request.mc_router.gated_cycles", 700000000);
    CHECK_NEAR(book.part[ENERGY_noc_routers].time - gated.part[ENERGY_noc_routers].time,
               0.5e-3 * (0.75 * (8 * input_mw + rest_mw) + clock_mw), 1e-9);
    /* The saving is that of its stage. */
    CHECK_EQ(book.stages, 2u);
    CHECK_TEXT(book.stage[0].name, "sm_router");
    CHECK_TEXT(book.stage[1].name, "mc_router");
    CHECK_NEAR(book.stage[0].energy.time, 8e-3 * ((10 + 8) * input_mw + 2 * (rest_mw + clock_mw)), 1e-9);
    CHECK_NEAR(book.stage[1].energy.time, 8e-3 * (2 * 8 * input_mw + 2 * (rest_mw + clock_mw)), 1e-9);
    CHECK_EQ(gated.stage[0].energy.time, book.stage[0].energy.time);
    CHECK_NEAR(book.stage[1].energy.time - gated.stage[1].energy.time,
               book.part[ENERGY_noc_routers].time - gated.part[ENERGY_noc_routers].time, 1e-9);
    config_destroy(config);
    config = run_config("selrep-64sm", NO_SETTINGS);
    book = book_with(config, "x.y", 0);
    CHECK_NEAR(book.part[ENERGY_dram].time / book.seconds, 4 * 8e-3 * model.dram.channel_milliwatts, 1e-9);
    config_destroy(config);
}

TEST("the energy of the network is that of routers and links, by events and by time") {
    struct energy_book book = {.part = {[ENERGY_noc_routers] = {1, 20}, [ENERGY_noc_links] = {300, 4000}}};
    CHECK_EQ(energy_noc(&book), 4321.0);
    book.part[ENERGY_dram] = (struct energy_entry){50000, 600000};
    CHECK_EQ(energy_noc(&book), 4321.0);
    CHECK_EQ(energy_total(&book), 654321.0);
}

TEST("groups pay for cooperation if their machine has its counters") {
    struct config *config = run_config("icc-32sm", SETTINGS("l1.organisation=icc-mgc"));
    struct energy_book with = book_with(config, "l1.icc.asked", 0), without = book_with(config, "x.y", 0);
    CHECK(with.part[ENERGY_l1_cooperation].time > 0);
    CHECK_EQ(without.part[ENERGY_l1_cooperation].time, 0.0);
    config_destroy(config);
}
