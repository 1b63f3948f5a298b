/* The routers of one stage: buffers, allocators, and one step of the pipeline. Private to fabric.c and the tests of
 * this module. */
#ifndef SLUICE_NOC_ROUTER_H
#define SLUICE_NOC_ROUTER_H

#include "noc/islip.h"
#include "noc/link.h"
#include "noc/noc.h"
#include "noc/queue.h"

/* A packet in flight. Its name is its offset: number << PACKET_SHIFT. */
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

/* The buffer of a VC at the far end of a link: of an input VC or an ejector. It holds packets; a flit is only counted.
 * A packet is here from the allocation of the VC upstream until its last flit has left. */
struct buffer {
    uint64_t bit;             /* input VC: its bit in the stage's masks, */
    struct input_word *word;  /* and their word */
    uint64_t *waiting;        /* where it waits for the first output of its router */
    struct output_vc *output; /* input VC that owns an output VC: that output VC, */
    uint64_t target_bit;      /* and its target_bit */
    struct link_word *target; /* and target */
    uint16_t left;            /* flits of the first packet that remain, once its head has been processed; else 0 */
    uint16_t word_in_span;    /* input VC: number of its word among those of its router */
    uint32_t head, tail;      /* of the packets; free-running */
    uint16_t first_output;    /* input VC: first output of its router */
    uint16_t local;           /* input VC: its number within its router */
    uint32_t packet[];        /* names */
};

/* A set of identical buffers. A buffer's offset is its number << shift. */
struct buffers {
    unsigned char *memory;
    unsigned shift, mask; /* mask of positions in a buffer */
};

/* Each packet has a flit in the buffer or in flight to it, except one: the packet that is sent next. */
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

/* An output VC. Its number is output << vc_shift | VC, with outputs numbered through the stage. */
struct output_vc {
    uint64_t given;           /* flits of all packets that have owned it */
    struct port_word *port;   /* of its output, */
    uint64_t port_bit;        /* likewise */
    struct buffer **owner;    /* its entry in stage->owner */
    uint64_t target_bit;      /* the VC at the far end of the link: its bit in the link's masks, */
    struct link_word *target; /* their word, */
    struct buffer *buffer;    /* and its buffer */
    uint64_t allocated;       /* packets that have owned it */
};
_Static_assert(sizeof(struct output_vc) == 64, "a line of the host's cache");
#define NOBODY UINT32_MAX

/* 64 input VCs. A VC is idle (no packet), waits for an output VC (first in `fresh`, then in `waiting`), or owns one. */
struct input_word {
    uint64_t nonempty;   /* has visible flits, */
    struct tally filled; /* this many */
    uint64_t idle;
    uint64_t fresh;         /* has a new head at its front, whose route is known at the end of this step */
    uint64_t go;            /* owns an output VC that has a credit */
    uint64_t granted;       /* gets `go` at the end of this step */
    uint64_t sending, sent; /* won the switch in this step; with one VC: in the previous step */
    uint64_t matched;       /* several VCs: its crossbar input was matched in an earlier iteration of this step */
    uint64_t ended;         /* sent the last flit of a packet in this step */
    struct queue_word owed; /* one VC and internal speedup: credits that wait for the link */
    uint64_t spare[2];
};

/* One VC and internal speedup: 64 VCs at the far end of the output links. */
struct output_word {
    struct queue_word queued; /* flits that wait for the link, */
    uint64_t crossed;         /* that left the switch in the second step of the previous cycle, */
    uint64_t crossing[8];     /* that are still in a longer traversal, by step */
    uint64_t spare[12];
};
_Static_assert(sizeof(struct input_word) == 256 && sizeof(struct output_word) == 256, "found by a shift");

/* 64 outputs. */
struct port_word {
    uint64_t want;    /* an input VC waits for it */
    uint64_t open;    /* one of its VCs has no owner */
    uint64_t held;    /* several VCs: one of its VCs has an owner */
    uint64_t matched; /* several VCs: in an earlier iteration of switch allocation */
};

/* Several VCs: input VCs of one word, as an output sees them. */
struct request_word {
    uint64_t owned;  /* own one of its VCs */
    uint64_t behind; /* belong to a crossbar input behind the one that it was matched with last: its pointer */
    const struct input_word *word;   /* their word, */
    struct xbar_input **first_input; /* and its crossbar inputs: router_stage.first_of */
};

/* Several VCs: an input of the crossbar. */
struct xbar_input {
    uint64_t vcs;            /* its input VCs, */
    struct input_word *word; /* in this word */
    uint64_t later;          /* VCs after the one that was served last */
    uint64_t nearest; /* of the outputs that grant to it: its distance from the pointer, modulo 2^32; or NO_OFFER */
    uint32_t accept;  /* pointer: one beyond the output of its last match. Beyond the last acts as the first */
    uint32_t word_in_span;  /* number of `word` among those of its router */
    const uint64_t *behind; /* [span]: input VCs of the later crossbar inputs of its router */
    unsigned char *buffers; /* of the VCs of `word` */
    uint64_t spare;
};
_Static_assert(sizeof(struct xbar_input) == 64, "a line of the host's cache");
#define NO_OFFER UINT64_MAX
enum {
    FIRST_OF_WORD = 64 + 1
}; /* entries of first_of for a word: the last is `nobody`, for outputs without requests */

struct router_stage {
    void (*loop)(struct router_stage *stage, uint64_t cycle); /* one cycle of its routers (router.c) */
    const bool *plain;                 /* use the plain loops, whatever could be specialised (router.c) */
    unsigned routers, inputs, outputs; /* inputs and outputs of one router */
    unsigned vcs, vc_shift;
    unsigned input_speedup;
    bool fast; /* internal speedup of 2 */
    bool lookahead;
    unsigned router_xbar_inputs; /* crossbar inputs of a router: inputs × input speedup */
    unsigned iterations;
    unsigned traversal_steps; /* from switch allocation to leaving the switch */
    bool active;              /* a step has work now or soon even if nothing arrives */
    bool busy;                /* enough flits left in this cycle to assume work in the next without checking */

    unsigned input_vcs, output_vcs, output_ports; /* of the stage */
    unsigned in_words, out_words, port_words;     /* of 64 */
    unsigned wait_words;                          /* of a mask over one router's input VCs */
    unsigned planes;                              /* of tallies */
    bool common_case; /* no longer traversal, routers with up to 64 input VCs, shallow buffers */
    bool narrow;      /* several VCs: the input VCs of a router are in one word, one iteration, no input speedup */
    bool one_word;    /* up to 64 input VCs, output VCs and outputs in all */

    struct link *in, *out; /* the links that end here, and those that start here */
    struct buffers
        input; /* of the input VCs: number is input << vc_shift | VC, with inputs numbered through the stage */
    struct buffers next; /* at the far end of `out` */
    const unsigned char *packets;
    uint16_t *route; /* [destinations]: output within a router */

    struct input_word *in_word;   /* [in_words] */
    struct output_word *out_word; /* [out_words] */
    struct port_word *port_word;  /* [port_words] */
    unsigned crossing_steps;      /* steps whose flits are in a longer traversal */

    struct output_vc *output; /* [output_vcs] */
    uint16_t *open;           /* [output_ports]: several VCs: those without an owner */
    uint64_t *waiting;        /* [output_ports][wait_words]: the input VCs that wait for one of its VCs */
    uint32_t *first_input;    /* [output_ports]: number of its router's first input VC */
    uint32_t *output_of;      /* by VC at the far end of `out`: number of the output VC that feeds it, */
    struct buffer **owner;    /* and the input VC that owns it; NULL if none */

    /* Pointers of VC allocation. */
    uint32_t *vc_grant;  /* [output_vcs]: an input VC of its router */
    uint32_t *vc_accept; /* [input_vcs]: an output VC, or NOBODY for the first of any output */

    /* Several VCs: switch allocation. Crossbar inputs and outputs are numbered through the stage. */
    unsigned span;                 /* words of in_word that the input VCs of a router are in, at most */
    struct request_word *request;  /* [output_ports][span], from the word of its router's first input VC on */
    struct xbar_input *xbar_input; /* [crossbar inputs] */
    uint64_t *behind;              /* [crossbar inputs][span] */
    struct xbar_input **first_of;  /* [in_words + span][FIRST_OF_WORD]: the first crossbar input of a VC's input */
    struct xbar_input **offered;   /* crossbar inputs with an offer */
    struct buffer **ended;         /* input VCs that sent the last flit of a packet in this step */

    /* Internal speedup and several VCs: when each link is free. */
    uint64_t *link_free;   /* [output_ports]: first cycle in which the link can take a flit */
    uint64_t *credit_free; /* [inputs of the stage]: first cycle in which the link can take a credit */
    uint64_t *credit_step; /* and the step of the last credits, + 1: those of one step travel together */
};

/* Initialises empty routers. The caller sets routes, wires and links. */
void router_stage_init(struct router_stage *stage, const struct noc_config *noc, unsigned routers, unsigned inputs,
                       unsigned outputs, unsigned destinations);
void router_stage_release(struct router_stage *stage);
/* Output VC `number` feeds VC `vc` at the far end of `out`. */
void router_stage_wire(struct router_stage *stage, unsigned number, unsigned vc);

/* VC allocation among the input VCs that wait: an output VC's new owner may use the switch from the next step on. */
void router_stage_allocate_vcs(struct router_stage *stage);
/* Switch allocation among the ready flits; the winners are `sending`. For several VCs: with one VC, no input and no
 * output has two candidates, and every ready flit wins. */
void router_stage_allocate_switch(struct router_stage *stage);

/* Flits that become visible and credits that become usable in the next step, by VC of one word of the link's mask. */
void router_stage_arrive(struct router_stage *stage, unsigned word, uint64_t mask);
void router_stage_credit(struct router_stage *stage, unsigned word, uint64_t mask);

/* One cycle of all routers of the stage. Without internal speedup a step is a cycle; with it a cycle has two steps, and
 * step s belongs to cycle s / 2. */
void router_stage_run(struct router_stage *stage, uint64_t cycle);

#endif
