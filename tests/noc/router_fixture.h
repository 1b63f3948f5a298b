/* A stage of routers without the rest of the network: the far ends of its links are plain buffers. A test puts requests
 * or flits into it and reads what the allocators decide and what leaves on the links.
 *
 *     struct stage_fixture fixture;
 *     stage_fixture_init(&fixture, &(struct stage_shape){.routers = 1, .inputs = 3, .outputs = 3, .vcs = 2});
 *     stage_fixture_release(&fixture);
 */
#ifndef SLUICE_TESTS_NOC_ROUTER_FIXTURE_H
#define SLUICE_TESTS_NOC_ROUTER_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "noc/router.h"
#include "test.h"

enum { STAGE_FLITS = 8 /* buffer of a VC */, STAGE_PACKETS = 64, STAGE_CYCLES = 64 };

/* Members that are 0 are 1. */
struct stage_shape {
    unsigned routers, inputs, outputs, vcs, iterations, input_speedup, internal_speedup;
};

struct stage_fixture {
    struct timeline time;
    struct link in, out;
    struct router_stage stage;
    struct buffers far_end;
    unsigned char *packets;
    unsigned packet_count;
};

static inline unsigned at_least_one(unsigned value) { return value ? value : 1; }

static inline void stage_fixture_init(struct stage_fixture *fixture, const struct stage_shape *shape) {
    struct noc_config noc = {.vcs = at_least_one(shape->vcs),
                             .vc_flits = STAGE_FLITS,
                             .stages = 4,
                             .internal_speedup = at_least_one(shape->internal_speedup),
                             .input_speedup = at_least_one(shape->input_speedup),
                             .iterations = at_least_one(shape->iterations)};
    unsigned row_words = 0, outputs = at_least_one(shape->outputs);
    memset(fixture, 0, sizeof *fixture);
    struct router_stage *stage = &fixture->stage;
    router_stage_init(stage, &noc, at_least_one(shape->routers), at_least_one(shape->inputs), outputs, outputs);
    link_init(&fixture->in, &fixture->time, &row_words, stage->input_vcs, STAGE_FLITS);
    link_init(&fixture->out, &fixture->time, &row_words, stage->output_vcs, STAGE_FLITS);
    fixture->in.credit_cycles = fixture->out.flit_cycles = 1;
    timeline_init(&fixture->time, STAGE_CYCLES - 1, row_words);
    fixture->far_end = buffers_of(stage->output_vcs, STAGE_FLITS);
    fixture->packets = mem_alloc_lines(STAGE_PACKETS, sizeof(struct packet));
    stage->in = &fixture->in;
    stage->out = &fixture->out;
    stage->next = fixture->far_end;
    stage->packets = fixture->packets;
    for (unsigned i = 0; i < stage->output_vcs; i++) {
        link_add_vc(&fixture->out, i, STAGE_FLITS);
        router_stage_wire(stage, i, i);
    }
    for (unsigned i = 0; i < outputs; i++) stage->route[i] = (uint16_t)i;
}

static inline void stage_fixture_release(struct stage_fixture *fixture) {
    router_stage_release(&fixture->stage);
    link_release(&fixture->in);
    link_release(&fixture->out);
    timeline_release(&fixture->time);
    free(fixture->far_end.memory);
    free(fixture->packets);
}

/* Inputs and outputs are numbered through the stage. */
static inline unsigned vc_number(const struct stage_fixture *fixture, unsigned port, unsigned vc) {
    return (port << fixture->stage.vc_shift) + vc;
}

/* The input VC has a flit for the output and all it needs to send it. */
static inline void request_switch(struct stage_fixture *fixture, unsigned input, unsigned vc, unsigned output) {
    unsigned number = vc_number(fixture, input, vc), word = number / 64;
    struct router_stage *stage = &fixture->stage;
    stage->in_word[word].nonempty |= UINT64_C(1) << (number % 64);
    stage->in_word[word].go |= UINT64_C(1) << (number % 64);
    stage->request[output * stage->span + word - stage->first_input[output] / 64].owned |= UINT64_C(1) << (number % 64);
    stage->port_word[output / 64].held |= UINT64_C(1) << (output % 64);
}

/* No input VC has a flit or owns an output VC. */
static inline void withdraw_requests(struct stage_fixture *fixture) {
    struct router_stage *stage = &fixture->stage;
    for (unsigned i = 0; i < stage->in_words; i++)
        stage->in_word[i].nonempty = stage->in_word[i].go = stage->in_word[i].sending = 0;
    for (unsigned i = 0; i < stage->output_ports * stage->span; i++) stage->request[i].owned = 0;
    for (unsigned i = 0; i < stage->port_words; i++) stage->port_word[i].held = 0;
}

/* A packet waits at the input VC, which is numbered within the output's router, for a VC of the output. */
static inline void request_vc(struct stage_fixture *fixture, unsigned local, unsigned output) {
    fixture->stage.waiting[output * fixture->stage.wait_words + local / 64] |= UINT64_C(1) << (local % 64);
    fixture->stage.port_word[output / 64].want |= UINT64_C(1) << (output % 64);
}

enum { NO_INPUT = UINT32_MAX };

/* The input VC, numbered within its router, that owns the output VC; NO_INPUT if it is free. */
static inline unsigned vc_owner(const struct stage_fixture *fixture, unsigned output, unsigned vc) {
    const struct buffer *owner = fixture->stage.owner[vc_number(fixture, output, vc)];
    return owner ? owner->local : NO_INPUT;
}

static inline void free_vc(struct stage_fixture *fixture, unsigned output, unsigned vc) {
    fixture->stage.owner[vc_number(fixture, output, vc)] = NULL;
    fixture->stage.open[output] |= (uint16_t)(1u << vc);
    fixture->stage.port_word[output / 64].open |= UINT64_C(1) << (output % 64);
}

/* A packet arrives whole at the input VC: all of its flits are there before the next step. */
static inline void arrive_packet(struct stage_fixture *fixture, unsigned input, unsigned vc, unsigned destination,
                                 unsigned flits) {
    REQUIRE(fixture->packet_count < STAGE_PACKETS);
    unsigned number = vc_number(fixture, input, vc);
    uint32_t name = fixture->packet_count++ << PACKET_SHIFT;
    *packet_at(fixture->packets, name) =
        (struct packet){.destination = (uint16_t)destination, .flits = (uint16_t)flits};
    buffer_add(buffers_get(&fixture->stage.input, number), fixture->stage.input.mask, name);
    for (unsigned i = 0; i < flits; i++)
        router_stage_arrive(&fixture->stage, number / 64, UINT64_C(1) << (number % 64));
}

/* Whether a credit for the input VC is usable upstream from `cycle` on. */
static inline bool credit_returns(const struct stage_fixture *fixture, uint64_t cycle, unsigned input, unsigned vc) {
    unsigned number = vc_number(fixture, input, vc);
    return timeline_row(&fixture->time, cycle)[fixture->in.returning + number / 64] >> (number % 64) & 1;
}

/* Whether a flit of the output VC is at the far end of its link in `cycle`. */
static inline bool flit_arrives(const struct stage_fixture *fixture, uint64_t cycle, unsigned output, unsigned vc) {
    unsigned number = vc_number(fixture, output, vc);
    return timeline_row(&fixture->time, cycle)[fixture->out.arriving + number / 64] >> (number % 64) & 1;
}

#endif
