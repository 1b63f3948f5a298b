/* The routers of one stage: their buffers, their allocators, and one step of their pipeline. For fabric.c and the tests
 * of this room. */
#ifndef SLUICE_NOC_ROUTER_H
#define SLUICE_NOC_ROUTER_H

#include "noc/islip.h"
#include "noc/link.h"
#include "noc/noc.h"
#include "noc/queue.h"

/* A packet on its way. Its name is its place: number << PACKET_SHIFT. */
struct packet {
    struct message message;
    uint64_t start; /* network cycle in which it left its injection queue */
    uint16_t destination;
    uint16_t flits;
    uint8_t spare[20];
};

enum { PACKET_SHIFT = 6 };
_Static_assert(sizeof(struct packet) == 1 << PACKET_SHIFT, "a line of the host's cache");

static inline struct packet *packet_at(const unsigned char *packets, uint32_t name) {
    return (struct packet *)(void *)(packets + name);
}

/* The buffer of a VC at the far end of a link: of an input VC or an ejector. What it keeps is packets: a flit is but one
 * that is left of them. A packet is here from the moment in which it holds the VC before the link until its last flit
 * has left. */
struct buffer {
    uint64_t bit;             /* input VC: its bit in the stage's masks, */
    struct input_word *word;  /* and their word; */
    uint64_t *waiting;        /* where it waits for the first output of its router */
    struct output_vc *output; /* input VC that holds an output VC: that one, */
    uint64_t target_bit;      /* and copies of that one's, */
    struct link_word *target; /* likewise */
    uint32_t left;         /* flits of the first packet that have not left, once its head has been looked at; else 0 */
    uint32_t head, tail;   /* of the packets; free-running */
    uint16_t first_output; /* input VC: of its router */
    uint16_t local;        /* input VC: its number among its router's */
    uint32_t packet[];     /* names */
};

/* A set of equal buffers. A buffer's place is its number << shift. */
struct buffers {
    unsigned char *memory;
    unsigned shift, mask; /* mask: of positions in a buffer */
};

/* Each packet has a flit in the buffer or on its way there, but for one: the one that is to be sent next. */
static inline struct buffers buffers_of(unsigned count, unsigned flits) {
    unsigned length = (unsigned)round_up_power_of_two(flits + 1);
    unsigned shift = log2_floor(round_up_power_of_two(sizeof(struct buffer) + length * sizeof(uint32_t)));
    return (struct buffers){mem_alloc_lines(count, (size_t)1 << shift), shift, length - 1};
}

static inline struct buffer *buffer_at(unsigned char *memory, size_t place) {
    return (struct buffer *)(void *)(memory + place);
}

static inline struct buffer *buffers_get(const struct buffers *buffers, size_t number) {
    return buffer_at(buffers->memory, number << buffers->shift);
}

static inline uint32_t buffer_first(const struct buffer *buffer, unsigned mask) {
    return buffer->packet[buffer->head & mask];
}

static inline void buffer_add(struct buffer *buffer, unsigned mask, uint32_t name) {
    buffer->packet[buffer->tail++ & mask] = name;
}

/* An output VC. Its number is output << vc_shift | VC, outputs counted through the stage. */
struct output_vc {
    uint64_t given;           /* flits of the packets that have held it */
    struct port_word *port;   /* of its output, */
    uint64_t port_bit;        /* likewise */
    struct buffer **owner;    /* its place in stage->owner */
    uint64_t target_bit;      /* the VC at the other end of the link: its bit in the link's masks, */
    struct link_word *target; /* their word, */
    struct buffer *buffer;    /* and its buffer */
    uint64_t allocated;       /* packets that have held it */
};
_Static_assert(sizeof(struct output_vc) == 64, "a line of the host's cache");
#define NOBODY UINT32_MAX

/* 64 input VCs. A VC is idle (no packet), waits for an output VC (first as `fresh`, then in `waiting`), or owns one. */
struct input_word {
    uint64_t nonempty;   /* there are flits that can be seen, */
    struct tally filled; /* so many */
    uint64_t idle;
    uint64_t fresh;         /* a head has come to the front, whose route will be known at the end of this step */
    uint64_t go;            /* owns an output VC that has a credit, */
    uint64_t granted;       /* from the next step on */
    uint64_t sending, sent; /* won the switch in this step; one VC: in the last */
    struct queue_word owed; /* one VC and internal speedup: credits that wait for the link */
    uint64_t spare[4];
};

/* One VC and internal speedup: 64 VCs at the far end of the links behind the outputs. */
struct output_word {
    struct queue_word queued; /* flits that wait for the link, */
    uint64_t crossed;         /* left the switch in the second step of the last cycle, */
    uint64_t crossing[8];     /* and are still in a longer traversal, by step */
    uint64_t spare[12];
};
_Static_assert(sizeof(struct input_word) == 256 && sizeof(struct output_word) == 256, "found by a shift");

/* 64 outputs. */
struct port_word {
    uint64_t want; /* an input VC waits for it */
    uint64_t open; /* one of its VCs has no owner */
};

struct router_stage {
    void (*loop)(struct router_stage *stage, uint64_t cycle); /* one cycle of its routers (router.c) */
    const bool *plain;                 /* use the plain loops, whatever could be specialised (router.c) */
    unsigned routers, inputs, outputs; /* inputs and outputs of one router */
    unsigned vcs, vc_shift;
    unsigned input_speedup;
    bool fast; /* internal speedup of 2 */
    bool lookahead;
    unsigned router_xbar_inputs; /* into a router's switch: inputs × input speedup */
    unsigned iterations;
    unsigned traversal_steps; /* from switch allocation to leaving the switch */
    bool active;              /* a step could do something now or soon even if nothing arrived */
    bool busy;                /* flits enough left in this cycle to expect more in the next without looking */

    unsigned input_vcs, output_vcs, output_ports; /* of the stage */
    unsigned in_words, out_words, port_words;     /* of 64 */
    unsigned wait_words;                          /* of masks over one router's input VCs */
    unsigned planes;                              /* of tallies */
    bool
        common_case; /* neither lookahead nor a longer traversal, routers with up to 64 input VCs, buffers of a few flits */

    struct link *in, *out; /* the links that end here, and those that begin here */
    struct buffers input;  /* of the input VCs: number is input << vc_shift | VC, inputs counted through the stage */
    struct buffers next;   /* at the far end of `out` */
    const unsigned char *packets;
    uint16_t *route; /* [destinations]: output within a router */

    struct input_word *in_word;   /* [in_words] */
    struct output_word *out_word; /* [out_words] */
    struct port_word *port_word;  /* [port_words] */
    unsigned crossing_steps;      /* steps whose flits are in a longer traversal */

    struct output_vc *output; /* [output_vcs] */
    uint16_t *open;           /* [output_ports]: several VCs: those without owner */
    uint64_t *waiting;        /* [output_ports][wait_words]: the input VCs that wait for one of its VCs */
    uint32_t *first_input;    /* [output_ports]: number of its router's first input VC */
    uint32_t *output_of;      /* by VC at the far end of `out`: number of the output VC that feeds it, */
    struct buffer **owner;    /* and the input VC whose packet holds that; NULL */

    /* Allocator pointers. Ways and outputs are counted through the stage; `next_*` goes round within a router. */
    uint32_t *vc_grant;      /* [output_vcs]: number among its router's input VCs */
    uint32_t *vc_accept;     /* [input_vcs]: an output VC, or NOBODY for the first of any output */
    uint32_t *switch_grant;  /* [output_ports]: a crossbar input */
    uint32_t *switch_accept; /* [crossbar inputs]: an output */
    uint16_t *xbar_input_vc; /* [crossbar inputs]: the VC preferred next among those that share input and output */
    uint32_t *xbar_input;    /* [input_vcs]: its input of the crossbar */
    uint32_t *next_xbar_input, *next_output;

    uint8_t next_vc[NOC_MAX_VCS]; /* after a VC, for the VCs of one crossbar input */

    /* Several VCs: scratch of switch allocation. */
    uint32_t *port_of;   /* [input_vcs]: output of the packet that it sends */
    uint64_t *best;      /* [output_ports]: nearest request so far, distance << 32 | input VC; UINT64_MAX for none */
    uint32_t *requested; /* outputs with a request */
    struct offer {
        uint32_t port, input_vc;
    } * offer;                             /* [crossbar inputs]: nearest grant so far; port NOBODY for none */
    uint32_t *offered;                     /* crossbar inputs with an offer */
    bool *xbar_input_taken, *output_taken; /* [crossbar inputs], [output_ports]: matched in an earlier iteration */

    /* Internal speedup and several VCs: when each link is free again. */
    uint64_t *link_free;   /* [output_ports]: first cycle in which the link can take a flit */
    uint64_t *credit_free; /* [inputs of the stage]: first cycle in which the link can take a credit */
    uint64_t *credit_step; /* and the step whose credits were the last, + 1: those of one step travel together */
};

/* Routers with nothing in them. Routes, wires and links are the caller's to fill in. */
void router_stage_init(struct router_stage *stage, const struct noc_config *noc, unsigned routers, unsigned inputs,
                       unsigned outputs, unsigned destinations);
void router_stage_release(struct router_stage *stage);
/* Output VC `number` feeds VC `vc` at the far end of `out`. */
void router_stage_wire(struct router_stage *stage, unsigned number, unsigned vc);

/* VC allocation among those that wait now: output VCs get their owners, who may use the switch from the next step on.
 */
void router_stage_allocate_vcs(struct router_stage *stage);
/* Switch allocation among the flits that are ready now: who wins is `sending`. For several VCs: with one, an input and
 * an output never have two candidates, so every ready flit wins. */
void router_stage_allocate_switch(struct router_stage *stage);

/* Flits that can be seen and credits that can be used from the next step on, by VC of a word of the link's mask. */
void router_stage_arrive(struct router_stage *stage, unsigned word, uint64_t mask);
void router_stage_credit(struct router_stage *stage, unsigned word, uint64_t mask);

/* One cycle of all routers of the stage. Without internal speedup a step is a cycle; with it there are two, and step s
 * belongs to cycle s / 2. */
void router_stage_run(struct router_stage *stage, uint64_t cycle);

#endif
