/* Registers and private lines of generated streams. */
#include <stdio.h>

#include "settings.h"
#include "stream/workload.h"
#include "test.h"

/* One record: its class, the register that it writes and those that it reads. */
struct expected {
    enum op_class op;
    uint8_t dst, src[3];
};

/* The first `count` records of the first warp. */
static void check_round(const char *name, const char *const *settings, const struct expected *expected,
                        unsigned count) {
    static const struct section *const sections[] = {&workload_section};
    struct config *config = config_create(sections, 1);
    struct error err = {0};
    REQUIRE(config_set_all(config, settings, &err) && config_check(config, &err));
    struct stream_source *source = workload_open(config, name, &err);
    CHECK_EQ((const char *)err.text, "");
    REQUIRE(source);
    static struct warp_stream warp;
    struct kernel kernel;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    source->ops->open(source, &warp);
    for (unsigned i = 0, next = 0; i < count; i++, next++) {
        if (i == 0 || next == warp.count) source->ops->refill(source, &warp), next = 0;
        const struct instr *instr = &warp.instr[next];
        bool good = CHECK_EQ(instr->op, expected[i].op) && CHECK_EQ(instr->dst[0], expected[i].dst);
        for (unsigned s = 0; s < 3; s++) good = CHECK_EQ(instr->src[s], expected[i].src[s]) && good;
        CHECK_EQ(instr->dst[1], 0);
        CHECK_EQ(instr->src[3], 0);
        if (!good) printf("      record %u of %s\n", i, name);
    }
    source->ops->destroy(source);
    config_destroy(config);
}
#define CHECK_ROUND(name, settings, expected) \
    check_round(name, settings, expected, sizeof(expected) / sizeof(expected)[0])

TEST("arithmetic reads the loaded values two at a time and sums them in four chains") {
    static const struct expected round[] = {
        {OP_load, 1, {0}},          {OP_load, 2, {0}},          {OP_load, 3, {0}},
        {OP_f32_fma, 4, {4, 1, 2}}, {OP_f32_fma, 5, {5, 3, 1}}, {OP_f32_fma, 6, {6, 2, 3}},
        {OP_f32_fma, 7, {7, 1, 2}}, {OP_f32_fma, 4, {4, 3, 1}}, {OP_load, 1, {0}},
    };
    static const char *const names[] = {"synth:shared", "synth:spread", "synth:uniform", "synth:hotline"};
    for (unsigned i = 0; i < 4; i++) CHECK_ROUND(names[i], SETTINGS("workload.loads=3", "workload.compute=5"), round);
    static const struct expected copy[] = {
        {OP_load, 1, {0}},          {OP_load, 2, {0}},          {OP_load, 3, {0}},
        {OP_store, 0, {1}},         {OP_store, 0, {2}},         {OP_store, 0, {3}},
        {OP_f32_fma, 4, {4, 1, 2}}, {OP_f32_fma, 5, {5, 3, 1}}, {OP_load, 1, {0}},
    };
    CHECK_ROUND("synth:copy", SETTINGS("workload.loads=3", "workload.compute=2"), copy);
}

TEST("a sum of synth:stream reads one loaded value, and synth:chase the previous load") {
    static const struct expected stream[] = {
        {OP_load, 1, {0}},       {OP_load, 2, {0}},       {OP_f32_add, 3, {3, 1}}, {OP_f32_add, 4, {4, 2}},
        {OP_f32_add, 5, {5, 1}}, {OP_f32_add, 6, {6, 2}}, {OP_f32_add, 3, {3, 1}}, {OP_load, 1, {0}},
    };
    CHECK_ROUND("synth:stream", SETTINGS("workload.loads=2", "workload.compute=5"), stream);
    static const struct expected chase[] = {{OP_load, 1, {1}}, {OP_load, 1, {1}}, {OP_load, 1, {1}}};
    CHECK_ROUND("synth:chase", NO_SETTINGS, chase);
}

TEST("every fourth instruction of synth:alu is an integer addition, and chains share two constants") {
    static const struct expected round[] = {
        {OP_f32_fma, 1, {1, 4, 5}}, {OP_f32_fma, 2, {2, 4, 5}}, {OP_f32_fma, 3, {3, 4, 5}},
        {OP_int_add, 1, {1, 4}},    {OP_f32_fma, 2, {2, 4, 5}}, {OP_f32_fma, 1, {1, 4, 5}}, /* the next round */
    };
    CHECK_ROUND("synth:alu", SETTINGS("workload.chains=3", "workload.compute=5"), round);
}

TEST("private lines of synth:shared are contiguous, touched once, and behind the shared footprint") {
    static const struct section *const sections[] = {&workload_section};
    struct config *config = config_create(sections, 1);
    struct error err = {0};
    REQUIRE(config_set_all(config,
                           SETTINGS("workload.ctas=3", "workload.warps=2", "workload.loads=5",
                                    "workload.private_loads=2", "workload.iterations=4", "workload.footprint_kb=16"),
                           &err));
    struct stream_source *source = workload_open(config, "synth:shared", &err);
    REQUIRE(source);
    enum { PRIVATE = 3 * 2 * 4 * 2, LINE = 128 };
    static struct warp_stream warp;
    struct kernel kernel;
    uint64_t most_shared = 0, least = UINT64_MAX, previous = 0;
    bool seen[PRIVATE] = {false};
    unsigned count = 0;
    REQUIRE(source->ops->next_kernel(source, &kernel));
    for (unsigned pass = 0; pass < 2; pass++) /* first the bounds, then the lines */
        for (unsigned w = 0; w < 6; w++) {
            warp.cta = w / 2, warp.warp = w % 2;
            source->ops->open(source, &warp);
            for (source->ops->refill(source, &warp); warp.count; source->ops->refill(source, &warp))
                for (unsigned i = 0; i < warp.count; i++) {
                    const struct instr *instr = &warp.instr[i];
                    if (instr->op != OP_load) continue;
                    uint64_t touch = warp.touch[instr->touches];
                    uint64_t line = touch_address(touch) + (touch_sectors(touch) == 0xF0 ? LINE : 0);
                    bool shared = instr->flags & INSTR_READ_ONLY;
                    if (pass == 0 && shared && line > most_shared) most_shared = line;
                    if (pass == 0 && !shared && line < least) least = line;
                    if (pass == 0 || shared) continue;
                    REQUIRE((line - least) / LINE < PRIVATE);
                    CHECK(!seen[(line - least) / LINE]);
                    if (count % 2 == 1) CHECK_EQ(line, previous + LINE); /* the second one of a round */
                    previous = line;
                    seen[(line - least) / LINE] = true;
                    count++;
                }
        }
    CHECK_EQ(count, PRIVATE);
    CHECK(least > most_shared);
    source->ops->destroy(source);
    config_destroy(config);
}
