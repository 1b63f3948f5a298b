/* Energy accounting: components add up, idle time costs static power only, gated routers cost almost nothing. */
#include <math.h>
#include <unistd.h>

#include "energy/energy.h"
#include "machine/runs.h"
#include "sm/script.h"

static struct energy_model *model_of(const struct config *config) {
    struct error err = {0};
    struct energy_model *model = energy_open(config, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(model);
    return model;
}

static void account(const struct run *run, const struct energy_model *model, uint64_t cycles,
                    struct energy_book *book) {
    energy_account(model, run->config, machine_shape(run->machine), machine_stats(run->machine), cycles, book);
}

static struct energy_book book_of(const char *gpu, const char *workload, const char *const *settings) {
    struct run *run = run_make(gpu, workload, settings);
    run_go(run, (struct run_options){0});
    struct energy_model *model = model_of(run->config);
    struct energy_book book;
    account(run, model, run->result.cycles, &book);
    free(model);
    run_destroy(run);
    return book;
}

TEST("components add up to the total, none is negative, and every active one has a cost") {
    for (unsigned i = 0; i < RUN_GPUS; i++) {
        struct energy_book book =
            book_of(run_gpus[i], "synth:stream",
                    SETTINGS("energy.measured_caches=false", "workload.ctas=16", "workload.iterations=4"));
        double sum = 0;
        for (unsigned part = 0; part < ENERGY_PART_COUNT; part++) {
            CHECK(book.part[part].events >= 0 && book.part[part].time >= 0);
            sum += book.part[part].events + book.part[part].time;
        }
        CHECK_NEAR(sum, energy_total(&book), 1e-12);
        CHECK(book.part[ENERGY_noc_links].events > 0 && book.part[ENERGY_noc_routers].events > 0);
        CHECK(book.part[ENERGY_llc].events > 0 && book.part[ENERGY_llc].time > 0);
        CHECK(book.part[ENERGY_l1].events > 0 && book.part[ENERGY_l1].time > 0);
        CHECK(book.part[ENERGY_dram].events > 0 && book.part[ENERGY_issue].events > 0);
        CHECK(book.part[ENERGY_constant].time > 0 && book.part[ENERGY_sm_idle].time > 0);
    }
}

static double part_of(const struct energy_book *book, enum energy_part part) {
    return book->part[part].events + book->part[part].time;
}

/* All SMs read the same lines, each starting at a different one. */
#define SHARED "workload.ctas=16", "workload.iterations=8", "workload.footprint_kb=64"

TEST("only L1s in groups account for crossbars and only cooperating L1s for cooperation; parts add up to the total") {
    static const struct {
        const char *organisation;
        bool grouped, cooperates;
    } rows[] = {{"l1.organisation=private", false, false},
                {"l1.organisation=clustered", true, false},
                {"l1.organisation=icc-agc", true, true},
                {"l1.organisation=icc-mgc", true, true}};
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct energy_book book = book_of("icc-32sm", "synth:spread", SETTINGS(rows[i].organisation, SHARED));
        const struct energy_entry *crossbars = &book.part[ENERGY_l1_crossbars],
                                  *cooperation = &book.part[ENERGY_l1_cooperation];
        double sum = 0;
        for (unsigned part = 0; part < ENERGY_PART_COUNT; part++) sum += part_of(&book, part);
        CHECK_NEAR(sum, energy_total(&book), 1e-12);
        CHECK_EQ(crossbars->events > 0 && crossbars->time > 0, rows[i].grouped);
        CHECK_EQ(crossbars->events + crossbars->time > 0, rows[i].grouped);
        CHECK_EQ(cooperation->events > 0 && cooperation->time > 0, rows[i].cooperates);
        CHECK_EQ(cooperation->events + cooperation->time > 0, rows[i].cooperates);
    }
}

TEST("groups with cooperation disabled have no hardware for it") {
    struct energy_book book =
        book_of("icc-32sm", "synth:spread", SETTINGS("l1.organisation=icc-mgc", "l1.icc-mgc.cooperate=false", SHARED));
    CHECK(part_of(&book, ENERGY_l1_crossbars) > 0);
    CHECK_EQ(part_of(&book, ENERGY_l1_cooperation), 0.0);
}

TEST("idling for as long again adds exactly the static energy, for every L1 organisation") {
    static const struct {
        const char *gpu, *organisation;
    } rows[] = {{"adaptive-80sm", "l1.organisation=private"},
                {"icc-32sm", "l1.organisation=clustered"},
                {"icc-32sm", "l1.organisation=icc-agc"},
                {"icc-32sm", "l1.organisation=icc-mgc"}};
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct run *run = run_make(rows[i].gpu, "synth:stream", SETTINGS(rows[i].organisation, "workload.ctas=16"));
        run_go(run, (struct run_options){0});
        struct energy_model *model = model_of(run->config);
        struct energy_book once, twice;
        account(run, model, run->result.cycles, &once);
        account(run, model, 2 * run->result.cycles, &twice);
        double time = 0;
        for (unsigned part = 0; part < ENERGY_PART_COUNT; part++) {
            CHECK_EQ(twice.part[part].events, once.part[part].events);
            CHECK_NEAR(twice.part[part].time, 2 * once.part[part].time, 1e-12);
            time += once.part[part].time;
        }
        CHECK_NEAR(energy_total(&twice) - energy_total(&once), time, 1e-9);
        free(model);
        run_destroy(run);
    }
}

TEST("crossbars of groups are routers of their shape: each flit enters, crosses, and uses a link on either side") {
    struct run *run = run_make("icc-32sm", "synth:stream", SETTINGS("l1.organisation=clustered", "workload.ctas=16"));
    run_go(run, (struct run_options){0});
    struct energy_model *model = model_of(run->config);
    const struct router_table *table = &model->router;
    struct energy_book book;
    account(run, model, run->result.cycles, &book);
    /* 4 SMs and 4 nodes, 32 bytes wide, a line and its header in 5 flits; links of 1 mm in a cycle of 1.4 GHz */
    struct router_shape shape = {4, 4, 256, 1, 5};
    struct link_cost link = link_cost(&model->link, 256, 1, 1e3 / 1.4);
    double flits = (double)(run_count(run, "l1.request_crossbar.flits") + run_count(run, "l1.reply_crossbar.flits")),
           packets =
               (double)(run_count(run, "l1.request_crossbar.packets") + run_count(run, "l1.reply_crossbar.packets"));
    double flit_pj = router_value(&table->buffer_write_pj, &shape) + router_value(&table->buffer_read_pj, &shape) +
                     router_value(&table->crossbar_pj, &shape) + 2 * link.pj;
    double watts = 16 * (1e-3 * (router_leak_mw(table, &shape) + 8 * link.leak_mw) +
                         1.4e9 * 1e-12 * router_value(&table->clock_pj, &shape));
    CHECK(flits > packets && packets > 0);
    CHECK_NEAR(book.part[ENERGY_l1_crossbars].events,
               1e-12 * (flits * flit_pj + packets * router_value(&table->switch_allocation_pj, &shape)), 1e-9);
    CHECK_NEAR(book.part[ENERGY_l1_crossbars].time, watts * book.seconds, 1e-9);
    free(model);
    run_destroy(run);
}

/* Both networks of all nodes, by counters that begin with `network`: picojoules by events, milliwatts by time. */
static struct energy_entry price_of_asking(struct run *run, const struct energy_model *model, const char *network) {
    const struct router_table *table = &model->router;
    static const char *const names[] = {"probes", "answer_hops", "data_answers", "miss_answers"};
    double count[COUNT_OF(names)];
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", network, names[i]);
        count[i] = (double)run_count(run, name);
    }
    double probes = count[0], hops = count[1], lines = count[2], others = count[3];
    CHECK(lines > 0);
    double full = lines + others * 64 / 1024; /* 8 of 128 bytes move */
    const struct {
        struct router_shape shape;
        double through_queues, hops, grants;
    } networks[] = {{{3, 3, 64, 1, 5}, probes, probes, probes},
                    {{3, 3, 1024, 1, 5}, full, hops * full / (lines + others), hops}};
    struct energy_entry price = {0};
    for (unsigned i = 0; i < COUNT_OF(networks); i++) {
        const struct router_shape *shape = &networks[i].shape;
        struct link_cost link = link_cost(&model->link, shape->bits, sqrt(610 / 8.0), 1e3 / 1.4);
        price.events += 2 * networks[i].through_queues *
                        (router_value(&table->buffer_write_pj, shape) + router_value(&table->buffer_read_pj, shape));
        price.events += networks[i].hops * (router_value(&table->crossbar_pj, shape) + link.pj);
        price.events += networks[i].grants * router_value(&table->switch_allocation_pj, shape);
        /* Two queues in place of a router's three; a link each way. */
        price.time += 32 * (router_leak_mw(table, shape) - router_value(&table->input_leak_mw, shape) +
                            2 * link.leak_mw + 1.4 * router_value(&table->clock_pj, shape));
    }
    return price;
}

static void check_cooperation(const struct energy_book *book, struct energy_entry price) {
    CHECK_NEAR(book->part[ENERGY_l1_cooperation].events, 1e-12 * price.events, 1e-9);
    CHECK_NEAR(book->part[ENERGY_l1_cooperation].time, 1e-3 * price.time * book->seconds, 1e-9);
}

TEST("probes between groups cost queues, switches and links at every hop, and replies without a line little") {
    struct run *run = run_make("icc-32sm", "synth:spread", SETTINGS("l1.organisation=icc-mgc", SHARED));
    run_go(run, (struct run_options){0});
    struct energy_model *model = model_of(run->config);
    struct energy_book book;
    account(run, model, run->result.cycles, &book);
    CHECK(run_count(run, "l1.mulnet.miss_answers") > 0);
    check_cooperation(&book, price_of_asking(run, model, "l1.mulnet"));
    free(model);
    run_destroy(run);
}

TEST("the directory of adjacent groups is read by each read miss and updated by its node and both neighbours") {
    struct run *run = run_make("icc-32sm", "synth:spread", SETTINGS("l1.organisation=icc-agc", SHARED));
    run_go(run, (struct run_options){0});
    struct energy_model *model = model_of(run->config);
    struct energy_book book;
    account(run, model, run->result.cycles, &book);
    struct energy_entry price = price_of_asking(run, model, "l1.adjnet");
    uint64_t updates = 3 * (run_count(run, "l1.fills") + run_count(run, "l1.evictions")); /* nothing is written */
    price.events += (double)(run_count(run, "l1.read_misses") + updates) * array_table_read_pj(&model->array, 368);
    price.time += 32 * array_table_leak_mw(&model->array, 368);
    check_cooperation(&book, price);
    free(model);
    run_destroy(run);
}

TEST("MC-routers that are off for a whole run have no dynamic energy and leak what gating leaves") {
    const char *const off[] = {"llc.organisation=private", "noc.bypass=true", "energy.gated_leak=0", "workload.ctas=16",
                               NULL};
    const char *const on[] = {"llc.organisation=private", NULL};
    struct run *gated = run_make("adaptive-80sm", "synth:stream", off),
               *plain = run_make("adaptive-80sm", "synth:stream", on);
    run_go(gated, (struct run_options){0});
    struct energy_model *model = model_of(gated->config);
    struct energy_book book, none;
    account(gated, model, gated->result.cycles, &book);
    /* What is left is the SM-routers': 8 of 10 × 8 and 8 of 8 × 10 ports. */
    struct router_shape request = {10, 8, 256, 1, 8}, reply = {8, 10, 256, 1, 8};
    double leak = 8e-3 * (router_leak_mw(&model->router, &request) + router_leak_mw(&model->router, &reply));
    double clock = 8 * 1.4e9 * 1e-12 *
                   (router_value(&model->router.clock_pj, &request) + router_value(&model->router.clock_pj, &reply));
    CHECK_NEAR(book.part[ENERGY_noc_routers].time, (leak + clock) * book.seconds, 1e-9);
    CHECK_EQ(run_count(gated, "noc.request.mc_router.crossbar_traversals"), 0u);
    /* The same machine with its routers on, and no run at all. */
    account(plain, model, gated->result.cycles, &none);
    CHECK(none.part[ENERGY_noc_routers].time > 1.5 * book.part[ENERGY_noc_routers].time);
    CHECK_EQ(none.part[ENERGY_noc_routers].events, 0.0);
    free(model);
    run_destroy(gated);
    run_destroy(plain);
}

/* Of atomics alone, all on one word, of a machine with this setting over it. */
static struct energy_book book_of_atomics(const char *organisation, const char *measured, struct energy_model **model) {
    static struct step step;
    static struct script_source source;
    step = memory_step(OP_atomic, SPACE_GLOBAL, 1, 0x10000000, 1);
    source = script_make(80, 1, (struct script){&step, 1});
    struct run *run = run_of("adaptive-80sm", &source.source, SETTINGS("sm.instruction_kb=0", organisation, measured));
    run_go(run, (struct run_options){0});
    *model = model_of(run->config);
    struct energy_book book;
    account(run, *model, run->result.cycles, &book);
    run_destroy(run);
    return book;
}

TEST("an operation of the LLC for atomics costs as much as in a slice, and leakage follows its geometry") {
    struct energy_model *model = NULL;
    double leak[2];
    static const char *const organisations[] = {"llc.organisation=shared", "llc.organisation=private"};
    for (unsigned i = 0; i < 2; i++) {
        struct energy_book book = book_of_atomics(organisations[i], "energy.measured_caches=true", &model);
        CHECK_NEAR(book.part[ENERGY_llc].events,
                   1e-12 * (79 * model->gpu.llc_write_hit_pj + model->gpu.llc_write_miss_pj), 1e-9);
        free(model);
        book = book_of_atomics(organisations[i], "energy.measured_caches=false", &model);
        leak[i] = book.part[ENERGY_llc].time / book.seconds;
        if (i == 0) free(model);
    }
    struct array_shape shape = {16 * 1024, 16, 256};
    CHECK_NEAR(leak[1] - leak[0],
               8e-3 *
                   (ARRAY_VALUE(&model->array, data_leak_mw, &shape) + ARRAY_VALUE(&model->array, tag_leak_mw, &shape)),
               1e-6);
    free(model);
}

static struct noc_cost cost_of(const char *topology, const char *width, unsigned concentration) {
    struct config *config =
        run_config("adaptive-80sm", SETTINGS(topology, width, "noc.internal_speedup=1", "noc.long_link_cycles=1"));
    struct energy_model *model = model_of(config);
    struct network_shape shape = {80 / concentration, 64 / concentration, 8, 8};
    struct noc_cost cost = energy_noc_cost(model, config, &shape);
    free(model);
    config_destroy(config);
    return cost;
}

TEST("whole networks cost within 15 % of the sum of DSENT's routers and links") {
    static const struct {
        const char *topology, *width;
        unsigned concentration; /* the reference has no concentrators: the crossbar of as many ports */
        double router_mm2, router_watts, clock_watts, link_mm2, link_watts;
    } rows[] = {
        /* 80 SMs, 64 slices, the bisection of a hierarchical crossbar of 8 bytes; links of 12.3 and 1 mm, one cycle each */
        {"noc.topology=hierarchical", "noc.channel_bytes=8", 1, 0.48612, 0.39889, 0.01133, 0.12388, 0.16248},
        {"noc.topology=full", "noc.channel_bytes=8", 1, 2.17622, 1.77172, 0.00559, 0.14983, 0.19952},
        {"noc.topology=full", "noc.channel_bytes=16", 2, 0.88451, 0.48953, 0.0054, 0.14983, 0.19952},
    };
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct noc_cost cost = cost_of(rows[i].topology, rows[i].width, rows[i].concentration);
        CHECK_NEAR(cost.router_area_mm2, rows[i].router_mm2, 0.15);
        CHECK_NEAR(cost.router.buffers + cost.router.crossbar + cost.router.allocators + cost.router.registers,
                   cost.router_area_mm2, 1e-12);
        CHECK_NEAR(cost.router_watts, rows[i].router_watts, 0.15);
        CHECK_NEAR(cost.clock_watts, rows[i].clock_watts, 0.15);
        CHECK_NEAR(cost.link_area_mm2, rows[i].link_mm2, 0.15);
        CHECK_NEAR(cost.link_watts, rows[i].link_watts, 0.15);
    }
}

/* A user table that replaces `router-22nm`. */
static struct error read_own(const char *text) {
    char path[] = "/tmp/sluice-energy-XXXXXX.yaml";
    int file = mkstemps(path, 5);
    REQUIRE(file >= 0);
    FILE *out = fdopen(file, "w");
    fputs(text, out);
    fclose(out);
    struct router_table table = {0};
    struct error err = {0};
    CHECK(!table_read(path, &router_form, &table, &err));
    remove(path);
    return err;
}

TEST("an invalid user table is rejected at its line, with the fix") {
    CHECK_TEXT(read_own("description: d\nbuffer_write_pj: {bit: 1}\n").text, ":2:19: unknown key 'bit' of a sum");
    CHECK_TEXT(read_own("description: d\nbuffer_write_pj: {bits: 1}\n").text, "a table of routers needs source");
    CHECK_TEXT(read_own("description: d\nclock_pj: {bits: -1}\n").text, ":2:");
    CHECK_TEXT(read_own("- 1\n").text, "a table of routers must be a mapping");
    struct config *config = run_config("adaptive-80sm", SETTINGS("energy.gpu=gpu-vulta"));
    struct error err = {0};
    CHECK(!energy_open(config, &err));
    CHECK_TEXT(err.text, "there is no energy table `gpu-vulta`; did you mean `gpu-volta`?");
    config_destroy(config);
}

TEST("every bundled table can be read") {
    static const char *const settings[] = {
        "energy.gpu=gpu-volta",    "energy.gpu=gpu-pascal",   "energy.gpu=gpu-turing",       "energy.dram=dram-hbm",
        "energy.dram=dram-hbm2",   "energy.dram=dram-hbm2e",  "energy.dram=dram-hbm3",       "energy.dram=dram-gddr5",
        "energy.array=array-32nm", "energy.array=array-45nm", "energy.link=link-45nm-global"};
    for (unsigned i = 0; i < COUNT_OF(settings); i++) {
        struct config *config = run_config("selrep-64sm", SETTINGS(settings[i]));
        free(model_of(config));
        config_destroy(config);
    }
}

TEST("a sectored cache costs as much as one of whole lines if whole lines are read, and less if sectors are") {
    static const char *const lines[] = {"l1.sector_bytes=0", "llc.sector_bytes=0"};
    static const char *const sectors[] = {"l1.sector_bytes=32", "llc.sector_bytes=32"};
    struct energy_book book[2][2];
    for (unsigned i = 0; i < 2; i++) {
        const char *const *with = i ? sectors : lines;
        book[0][i] = book_of("selrep-64sm", "synth:stream",
                             SETTINGS("energy.measured_caches=false", "workload.iterations=2", with[0], with[1]));
        book[1][i] = book_of("selrep-64sm", "synth:chase",
                             SETTINGS("energy.measured_caches=false", "workload.iterations=200", with[0], with[1],
                                      "sm.instruction_kb=0", "workload.stride_bytes=128"));
    }
    CHECK_NEAR(book[0][1].part[ENERGY_l1].events, book[0][0].part[ENERGY_l1].events, 1e-9);
    CHECK_NEAR(book[0][1].part[ENERGY_llc].events, book[0][0].part[ENERGY_llc].events, 1e-9);
    CHECK(book[1][1].part[ENERGY_l1].events < 0.6 * book[1][0].part[ENERGY_l1].events);
    CHECK(book[1][1].part[ENERGY_llc].events < 0.6 * book[1][0].part[ENERGY_llc].events);
    CHECK(book[1][1].part[ENERGY_dram].events < 0.6 * book[1][0].part[ENERGY_dram].events);
}
