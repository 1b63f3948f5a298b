#include "noc/bypass.h"

/* Input VC i feeds output VC i, so that they share a number: routers that can be bypassed have as many outputs as
 * inputs. */
void bypass_arrive(struct router_stage *stage, unsigned word, uint64_t mask, uint64_t cycle) {
    struct link *link = stage->out;
    /* Includes one cycle for the multiplexer, in place of switch traversal. */
    uint64_t at = cycle + link->flit_cycles;
    uint64_t *arriving = timeline_row(link->time, at) + link->arriving;
    for (; mask; mask &= mask - 1) {
        unsigned number = word * 64 + lowest_bit(mask);
        struct buffer *in = buffers_get(&stage->input, number);
        struct output_vc *out = &stage->output[number];
        if (!in->left) {
            uint32_t name = buffer_first(in, stage->input.mask);
            const struct packet *packet = packet_at(stage->packets, name);
            assert((uint32_t)in->first_output + stage->route[packet->destination] ==
                   number >> stage->vc_shift); /* no other output can be reached */
            buffer_add(out->buffer, stage->input.mask, name);
            in->left = packet->flits;
        }
        if (!--in->left) in->head++;
        out->given++;
        uint64_t *target = arriving + (out->target - link->word);
        assert(!(*target & out->target_bit));
        *target |= out->target_bit;
    }
    timeline_mark(link->time, at);
}

void bypass_credit(struct router_stage *stage, unsigned word, uint64_t mask, uint64_t cycle) {
    struct link *link = stage->in;
    uint64_t at =
        cycle + link->credit_cycles - 1; /* minus the cycle in which a flit leaves a buffer: here there is none */
    uint64_t *returning = timeline_row(link->time, at) + link->returning;
    for (; mask; mask &= mask - 1) {
        uint32_t number = stage->output_of[word * 64 + lowest_bit(mask)];
        returning[number / 64] |= UINT64_C(1) << (number % 64);
    }
    timeline_mark(link->time, at);
}
