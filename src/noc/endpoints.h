/* The two ends of a fabric: where packets become flits and flits become packets again. For fabric.c. */
#ifndef SLUICE_NOC_ENDPOINTS_H
#define SLUICE_NOC_ENDPOINTS_H

#include "noc/network.h"
#include "noc/router.h"

/* Packets on their way. */
struct packet_pool {
    unsigned char *packet; /* [count] of struct packet */
    uint32_t *free;        /* names that are not in use */
    uint32_t count, free_count;
    unsigned planes; /* of tallies of a packet's flits */
};

/* Injection (inject.c): the inputs of the first stage, each shared by one source or more. One packet at a time, sources
 * taking turns, one flit per cycle. */
struct injection {
    struct network *network;
    struct packet_pool *pool;
    struct link *link;   /* to the first stage, */
    struct buffers next; /* and the buffers there */
    unsigned inputs, sources_each;
    unsigned vcs, vc_shift;
    unsigned words;                          /* of masks over inputs */
    uint64_t (*pushed)[2];                   /* [sources_each][words]: set by the sources' ports (port_watch) */
    uint64_t *arrived;                       /* [sources_each][words]: the source has a message */
    uint64_t *idle;                          /* [words]: has no packet to send */
    uint64_t *choosing;                      /* [words]: several VCs: has a packet that has no VC yet, */
    uint64_t *blocked;                       /* [words]: because none had a credit */
    uint64_t *sending;                       /* [link->words] by VC of the link: a packet is being sent over it */
    struct tally *left;                      /* [link->words]: so many of its flits have not been sent */
    uint32_t *packet;                        /* [inputs]: several VCs: the packet that has no VC yet */
    uint16_t *turn;                          /* [inputs]: source that is preferred next */
    uint8_t *vc;                             /* [inputs]: several VCs: the one that was chosen last */
    size_t destination_at;                   /* in a message */
    uint16_t flits_of[MESSAGE_ACK + 1][256]; /* length of a packet, by the message's kind and sectors */
};

void injection_init(struct injection *injection, struct network *network, struct packet_pool *pool, struct link *link,
                    const struct router_stage *next, unsigned sources_each);
void injection_release(struct injection *injection);
/* Flits that an input has not sent of the packet that it is sending. */
unsigned injection_left(const struct injection *injection, unsigned input);
/* What the sources pushed and can be seen from `now` on. */
void injection_collect(struct injection *injection, uint64_t now);
void injection_credit(struct injection *injection, unsigned word, uint64_t mask);
/* Takes new packets and sends one flit from every input that can. */
void injection_run(struct injection *injection, uint64_t cycle, uint64_t now);
/* Whether the next cycle has anything to do even if nothing arrives. */
bool injection_ready(const struct injection *injection);

/* Ejection (eject.c): where the outputs of the last stage end, each shared by one destination or more. There is a
 * buffer for each VC, under the number of its output VC. Flits leave it at once while their packet has a place at its
 * destination; otherwise they wait there and their credits with them. */
struct ejection {
    struct network *network;
    struct packet_pool *pool;
    struct link *link; /* from the last stage */
    struct buffers buffers;
    unsigned vcs, vc_shift;
    struct admission {
        uint32_t admitted, limit; /* packets, free-running; limit: by the places that are known to be free */
    } * admission;                /* [destinations] */
    uint64_t *entered;            /* [link->words]: the first packet has been admitted, */
    struct tally *left;           /* [link->words]: and so many of its flits have not left */
    uint64_t *holding;            /* [link->words]: there are flits that wait, */
    uint16_t *waiting;            /* [VCs] how many, */
    unsigned held;                /* and in all buffers */
    bool draining;                /* some left in the last cycle, so more may in the next */
    uint64_t *drained; /* [link->words]: of an output that one left in cycle `drained_in`, which takes no other */
    uint64_t drained_in;
};

void ejection_init(struct ejection *ejection, struct network *network, struct packet_pool *pool, struct link *link,
                   unsigned outputs);
void ejection_release(struct ejection *ejection);
/* Flits arrive, by VC of a word of the link's mask. */
void ejection_arrive(struct ejection *ejection, unsigned word, uint64_t mask, uint64_t cycle, uint64_t now);
/* Flits that wait leave if they can now, one per cycle and output. Older than those that arrive in the same cycle, they
 * come first. */
void ejection_drain(struct ejection *ejection, uint64_t cycle, uint64_t now);

#endif
