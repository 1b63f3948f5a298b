/* The allocators of the routers against iSLIP by its definition (islip_oracle.h), step by step on random requests. */
#include "noc/islip_oracle.h"

#include <stdio.h>

#include "base/random.h"
#include "noc/router_fixture.h"

enum { ROUTERS = 8, STEPS = 150 };

struct comparison {
    struct stage_fixture fixture;
    struct stage_shape shape;
    uint64_t random;
    unsigned wrong; /* decisions that differ */
    struct islip_oracle islip[ROUTERS];
};

static struct comparison *comparison_begin(const struct stage_shape *shape, uint64_t seed, unsigned inputs,
                                           unsigned outputs) {
    struct comparison *c = mem_alloc(1, sizeof *c);
    c->shape = *shape;
    c->random = seed;
    stage_fixture_init(&c->fixture, shape);
    REQUIRE(inputs <= ISLIP_INPUTS && outputs <= ISLIP_OUTPUTS && shape->routers <= ROUTERS);
    for (unsigned router = 0; router < shape->routers; router++)
        c->islip[router] =
            (struct islip_oracle){.inputs = (int)inputs, .outputs = (int)outputs, .iterations = (int)shape->iterations};
    return c;
}

/* Reports the first shape in which a decision differs. */
static void comparison_end(struct comparison *c) {
    if (c->wrong)
        printf("routers %u, inputs %u, outputs %u, VCs %u, iterations %u, input speedup %u\n", c->shape.routers,
               c->shape.inputs, c->shape.outputs, c->shape.vcs, c->shape.iterations, c->shape.input_speedup);
    CHECK_EQ(c->wrong, 0u);
    stage_fixture_release(&c->fixture);
    free(c);
}

static bool chance(struct comparison *c, unsigned percent) { return random_below(&c->random, 100) < percent; }

/* ---- VC allocation: input VCs and output VCs, numbered within their router ---------------------------------------- */

static int model_output(const struct comparison *c, unsigned output, unsigned vc) {
    return (int)(output * c->shape.vcs + vc);
}

/* Packets arrive at input VCs without one and want a VC of an output; some owners of output VCs end. A busy input VC
 * holds the output it wants, + 1. */
static void change_packets(struct comparison *c, unsigned router, uint8_t *busy) {
    const struct stage_shape *shape = &c->shape;
    struct islip_oracle *islip = &c->islip[router];
    for (unsigned output = 0; output < shape->outputs; output++)
        for (unsigned vc = 0; vc < shape->vcs; vc++) {
            unsigned owner = vc_owner(&c->fixture, router * shape->outputs + output, vc);
            if (owner == NO_INPUT || !chance(c, 60)) continue;
            free_vc(&c->fixture, router * shape->outputs + output, vc);
            busy[owner] = 0;
        }
    for (unsigned input = 0; input < shape->inputs; input++)
        for (unsigned vc = 0; vc < shape->vcs; vc++) {
            unsigned local = vc_number(&c->fixture, input, vc);
            if (busy[local] || !chance(c, 50)) continue;
            unsigned output = (unsigned)random_below(&c->random, shape->outputs);
            busy[local] = (uint8_t)(output + 1);
            request_vc(&c->fixture, local, router * shape->outputs + output);
            for (unsigned k = 0; k < shape->vcs; k++) islip->request[local][model_output(c, output, k)] = true;
        }
}

/* An output VC with an owner takes no part: the definition's requests are for those without one. */
static void match_free_vcs(struct comparison *c, unsigned router, const unsigned *owner_before) {
    struct islip_oracle *islip = &c->islip[router];
    static bool all[ISLIP_INPUTS][ISLIP_OUTPUTS];
    memcpy(all, islip->request, sizeof all);
    for (int output = 0; output < islip->outputs; output++)
        for (int input = 0; input < islip->inputs; input++)
            if (owner_before[output] != NO_INPUT) islip->request[input][output] = false;
    islip_oracle_match(islip);
    memcpy(islip->request, all, sizeof all);
    for (int input = 0; input < islip->inputs; input++)
        if (islip->output_of[input] != ISLIP_NONE) memset(islip->request[input], 0, sizeof islip->request[input]);
}

static void compare_vc_allocation(const struct stage_shape *shape, uint64_t seed) {
    unsigned locals = shape->inputs * (unsigned)round_up_power_of_two(shape->vcs);
    struct comparison *c = comparison_begin(shape, seed, locals, shape->outputs * shape->vcs);
    static uint8_t busy[ROUTERS][ISLIP_INPUTS];
    static unsigned before[ROUTERS][ISLIP_OUTPUTS];
    memset(busy, 0, sizeof busy);
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned router = 0; router < shape->routers; router++) {
            change_packets(c, router, busy[router]);
            for (unsigned output = 0; output < shape->outputs; output++)
                for (unsigned vc = 0; vc < shape->vcs; vc++)
                    before[router][model_output(c, output, vc)] =
                        vc_owner(&c->fixture, router * shape->outputs + output, vc);
            match_free_vcs(c, router, before[router]);
        }
        router_stage_allocate_vcs(&c->fixture.stage);
        for (unsigned router = 0; router < shape->routers; router++)
            for (unsigned output = 0; output < shape->outputs; output++)
                for (unsigned vc = 0; vc < shape->vcs; vc++) {
                    int number = model_output(c, output, vc), matched = c->islip[router].input_of[number];
                    unsigned expected = matched == ISLIP_NONE ? before[router][number] : (unsigned)matched;
                    c->wrong += vc_owner(&c->fixture, router * shape->outputs + output, vc) != expected;
                }
    }
    comparison_end(c);
}

TEST("VC allocation decides as iSLIP by its definition, on random requests") {
    static const struct stage_shape shapes[] = {
        {.routers = 1, .inputs = 5, .outputs = 3, .vcs = 1, .iterations = 1},
        {.routers = 8, .inputs = 10, .outputs = 9, .vcs = 1, .iterations = 2},
        {.routers = 2, .inputs = 64, .outputs = 3, .vcs = 1, .iterations = 1},
        {.routers = 2, .inputs = 100, .outputs = 3, .vcs = 1, .iterations = 1},
        {.routers = 1, .inputs = 3, .outputs = 2, .vcs = 2, .iterations = 1},
        {.routers = 2, .inputs = 4, .outputs = 3, .vcs = 2, .iterations = 2},
        {.routers = 3, .inputs = 5, .outputs = 2, .vcs = 3, .iterations = 3},
        {.routers = 8, .inputs = 4, .outputs = 9, .vcs = 4, .iterations = 2},
        {.routers = 1, .inputs = 20, .outputs = 4, .vcs = 4, .iterations = 2},
        {.routers = 1, .inputs = 9, .outputs = 2, .vcs = 8, .iterations = 4},
    };
    for (unsigned i = 0; i < COUNT_OF(shapes); i++) compare_vc_allocation(&shapes[i], i + 1);
}

/* ---- switch allocation: crossbar inputs and outputs ---------------------------------------------------------------- */

/* With input speedup s, crossbar input k of an input port belongs to its VCs k, k + s, ...: they take turns, those with
 * a flit for the output that the crossbar input has been matched with. */
struct vc_turns {
    unsigned next[ROUTERS][ISLIP_INPUTS]; /* [crossbar input]: VC whose turn it is */
};

static unsigned turn_of(const struct comparison *c, struct vc_turns *turns, unsigned router, unsigned crossbar_input,
                        const uint8_t *output_of_vc, unsigned output) {
    unsigned speedup = c->shape.input_speedup, first = crossbar_input % speedup,
             vcs = (c->shape.vcs - first + speedup - 1) / speedup; /* of the crossbar input */
    unsigned *next = &turns->next[router][crossbar_input];
    for (unsigned i = 0; i < vcs; i++) {
        unsigned turn = (*next + i) % vcs, vc = first + turn * speedup;
        if (output_of_vc[vc] != output + 1) continue;
        *next = (turn + 1) % vcs;
        return vc;
    }
    REQUIRE(!"a matched crossbar input has a flit for its output");
    return 0;
}

static void compare_switch_allocation(const struct stage_shape *shape, uint64_t seed) {
    struct comparison *c = comparison_begin(shape, seed, shape->inputs * shape->input_speedup, shape->outputs);
    struct router_stage *stage = &c->fixture.stage;
    struct vc_turns *turns = mem_alloc(1, sizeof *turns);
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t expected[ROUTERS * 2] = {0};
        unsigned busy = 20 + 15 * (step % 6); /* percent of the VCs */
        REQUIRE(stage->in_words <= COUNT_OF(expected));
        withdraw_requests(&c->fixture);
        for (unsigned router = 0; router < shape->routers; router++) {
            struct islip_oracle *islip = &c->islip[router];
            uint8_t wanted[ISLIP_INPUTS][NOC_MAX_VCS] = {{0}}; /* [input][VC]: output + 1; 0: no flit */
            memset(islip->request, 0, sizeof islip->request);
            for (unsigned input = 0; input < shape->inputs; input++)
                for (unsigned vc = 0; vc < shape->vcs; vc++) {
                    if (!chance(c, busy)) continue;
                    unsigned output = (unsigned)random_below(&c->random, shape->outputs);
                    wanted[input][vc] = (uint8_t)(output + 1);
                    islip->request[input * shape->input_speedup + vc % shape->input_speedup][output] = true;
                    request_switch(&c->fixture, router * shape->inputs + input, vc, router * shape->outputs + output);
                }
            islip_oracle_match(islip);
            for (unsigned crossbar = 0; crossbar < shape->inputs * shape->input_speedup; crossbar++) {
                unsigned input = crossbar / shape->input_speedup;
                if (islip->output_of[crossbar] == ISLIP_NONE) continue;
                unsigned vc = turn_of(c, turns, router, crossbar, wanted[input], (unsigned)islip->output_of[crossbar]);
                unsigned number = vc_number(&c->fixture, router * shape->inputs + input, vc);
                expected[number / 64] |= UINT64_C(1) << (number % 64);
            }
        }
        router_stage_allocate_switch(stage);
        for (unsigned word = 0; word < stage->in_words; word++)
            c->wrong += stage->in_word[word].sending != expected[word];
    }
    free(turns);
    comparison_end(c);
}

TEST("switch allocation decides as iSLIP by its definition, and VCs of a crossbar input take turns") {
    static const struct stage_shape shapes[] = {
        {.routers = 1, .inputs = 3, .outputs = 3, .vcs = 2, .iterations = 1, .input_speedup = 1},
        {.routers = 2, .inputs = 5, .outputs = 4, .vcs = 2, .iterations = 2, .input_speedup = 2},
        {.routers = 3, .inputs = 4, .outputs = 7, .vcs = 4, .iterations = 1, .input_speedup = 2},
        {.routers = 4, .inputs = 10, .outputs = 8, .vcs = 4, .iterations = 2, .input_speedup = 1},
        {.routers = 1, .inputs = 40, .outputs = 70, .vcs = 2, .iterations = 3, .input_speedup = 1},
        {.routers = 2, .inputs = 6, .outputs = 2, .vcs = 8, .iterations = 4, .input_speedup = 2},
        {.routers = 2, .inputs = 6, .outputs = 3, .vcs = 3, .iterations = 1, .input_speedup = 1},
        {.routers = 2, .inputs = 6, .outputs = 2, .vcs = 3, .iterations = 1, .input_speedup = 2},
        {.routers = 2, .inputs = 3, .outputs = 2, .vcs = 7, .iterations = 2, .input_speedup = 2},
        {.routers = 8, .inputs = 5, .outputs = 9, .vcs = 4, .iterations = 1, .input_speedup = 1}, /* across words */
        {.routers = 3, .inputs = 18, .outputs = 4, .vcs = 4, .iterations = 2, .input_speedup = 2},
        {.routers = 3, .inputs = 40, .outputs = 5, .vcs = 4, .iterations = 1, .input_speedup = 1},
    };
    for (unsigned i = 0; i < COUNT_OF(shapes); i++) compare_switch_allocation(&shapes[i], i + 1);
}
