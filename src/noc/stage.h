/* The routers of one stage: their buffers, their allocators, and one step of their pipeline. For fabric.c and the tests of this room. */
#ifndef SLUICE_NOC_STAGE_H
#define SLUICE_NOC_STAGE_H

#include "noc/islip.h"
#include "noc/noc.h"
#include "noc/tally.h"
#include "noc/timeline.h"

/* A packet on its way. Its name is its place: number << PACKET_SHIFT. */
struct packet {
    struct message message;
    uint64_t start; /* network cycle in which it left its injection queue */
    uint16_t destination;
    uint8_t spare[22];
};

/* A flit is its packet's name and, in the lowest bit, whether it is the tail. */
enum { FLIT_TAIL = 1, PACKET_SHIFT = 6 };
_Static_assert(sizeof(struct packet) == 1 << PACKET_SHIFT, "a line of the host's cache");

static inline struct packet *packet_at(const unsigned char *packets, uint32_t flit) {
    return (struct packet *)(void *)(packets + (flit & ~(uint32_t)FLIT_TAIL));
}

enum input_state { INPUT_IDLE, INPUT_WAITING, INPUT_ACTIVE };

/* An input VC and, behind it, its buffer: with up to 8 flits a single line of the host's cache. It is named by its place: number << input_shift.
 * A place in its buffer is somebody's credit: a word and bit of the mask of returning credits. While it is active it holds an output VC, again a word and
 * bit. */
struct input_vc {
    uint16_t head, tail;   /* free-running */
    uint8_t state, vc;
    uint16_t local;        /* its number among its router's input VCs */
    uint16_t first_output; /* of its router */
    uint16_t output;       /* output VC */
    uint16_t output_word, upstream_word;
    uint64_t output_bit, upstream_bit;
    uint32_t flit[];
};

struct output_vc {
    uint64_t target; /* << 32: the place at the other end of the link */
    uint64_t sent, allocated;
    uint32_t owner;  /* the input VC whose packet holds it */
    uint32_t spare;
};

/* Where the flits and credits of a stage go. */
struct stage_ways {
    struct timeline *time;
    unsigned flits, credits; /* list and mask of the timeline */
    unsigned flit_cycles;    /* from leaving the switch to arriving */
    unsigned credit_cycles;  /* from switch allocation to the credit's use upstream */
    const unsigned char *packets;
};

struct stage {
    unsigned routers, inputs, outputs; /* inputs and outputs of one router */
    unsigned vcs, vc_shift;            /* an output's VCs start at output << vc_shift */
    unsigned vc_flits;
    unsigned input_speedup, internal_speedup;
    unsigned router_ways;              /* into a router's switch: inputs × input speedup */
    unsigned iterations;
    unsigned routing_steps;            /* 1, or 0 with lookahead */
    unsigned traversal_steps;          /* from switch allocation to leaving the switch */
    unsigned buffer_mask, input_shift;
    bool active;                       /* a step could do something now or soon even if nothing arrived */

    unsigned input_vcs, output_vcs, output_ports; /* of the stage; output_vcs with the gaps of vc_shift */
    unsigned vc_words, port_words;                /* 64-bit words of masks over output VCs and over outputs */
    unsigned wait_words;                          /* of masks over a router's input VCs */

    unsigned char *input;            /* [input_vcs] of struct input_vc */
    struct output_vc *output;        /* [output_vcs] */
    uint64_t *have, *credit, *open;  /* [vc_words] by output VC: its owner has a flit, there is a credit, nobody owns it */
    struct tally credits;            /* how many */
    uint64_t *want, *some_open;      /* [port_words] by output: an input VC waits for it, one of its VCs is open. One VC: some_open is open */
    uint64_t *waiting;               /* [output_ports][wait_words]: the input VCs that wait for a VC of the output */
    uint16_t *route;                 /* [destinations]: output within a router */
    uint32_t *first_input;           /* [output_ports]: the first input VC of its router, by place */
    struct stage_ways ways;

    /* Allocator pointers. Ways and outputs are counted through the stage; `next_*` goes round within a router. */
    uint32_t *vc_grant;              /* [output_vcs]: number among its router's input VCs */
    uint32_t *vc_accept;             /* [input_vcs]: an output VC, or UINT32_MAX for the first of any output */
    uint32_t *switch_grant;          /* [output_ports]: a way */
    uint32_t *switch_accept;         /* [ways]: an output */
    uint8_t *way_vc;                 /* [ways]: the VC preferred next among those that share way and output */
    uint32_t *next_way, *next_output;
    uint32_t *way;                   /* [input_vcs]: its way into the switch << 3 | VC */
    uint32_t *owner_way;             /* [output_vcs]: the same of the owner */

    /* Input VCs whose route is being computed: those that will ask for a VC in step s are in list s % 4, as output << 32 | local number. */
    uint64_t *routing[4], *routing_end[4];

    /* Results of the allocations of a step. */
    uint64_t *granted;               /* [vc_words] by output VC */
    uint32_t *winner;                /* output VCs that send a flit */
    /* Scratch of switch allocation. */
    uint32_t *offer;                 /* [ways]: the best grant so far, an output VC; UINT32_MAX for none */
    uint32_t *offered;               /* ways with an offer */
    uint64_t *left;                  /* [vc_words]: ready and not yet matched */
    bool *way_taken;                 /* [ways] */

    /* Internal speedup: what one link carries in a cycle. */
    uint64_t *link_free;             /* [output_ports]: first cycle in which the link can take a flit */
    uint64_t *credit_free;           /* [input ports]: first cycle in which the link can take a credit */
    uint64_t *credit_step;           /* and the step whose credits were the last, + 1: those of one step travel together */
};

static inline struct input_vc *stage_at(const struct stage *stage, uint32_t place) {
    return (struct input_vc *)(void *)(stage->input + place);
}

static inline struct input_vc *stage_input(const struct stage *stage, uint32_t number) {
    return stage_at(stage, number << stage->input_shift);
}

/* Routers with all credits and nothing in them. Routes, wires and `ways` are the caller's to fill in. */
void stage_init(struct stage *stage, const struct noc_config *noc, unsigned routers, unsigned inputs, unsigned outputs,
                unsigned destinations);
void stage_release(struct stage *stage);

/* VC allocation among those that wait now. Gives the VCs to their new owners and leaves in stage->granted which they are. */
void stage_allocate_vcs(struct stage *stage);
/* Switch allocation among the flits that are ready now: fills stage->winner and returns how many. For more than one VC: with one, an input
 * and an output never have two candidates, so every ready flit wins. */
unsigned stage_allocate_switch(struct stage *stage);

/* Flits that arrive before `step`. */
void stage_arrive(struct stage *stage, uint64_t step, const uint64_t *event, unsigned count);

/* Credits that arrive, by output VC. */
static inline void stage_credit(struct stage *stage, unsigned word, uint64_t mask) {
    tally_add(&stage->credits, word, mask);
    if (mask & ~stage->credit[word] & stage->have[word]) stage->active = true;
    stage->credit[word] |= mask;
}

/* One step of all routers of the stage. With internal speedup there are two in a cycle. */
void stage_step(struct stage *stage, uint64_t step);

#endif
