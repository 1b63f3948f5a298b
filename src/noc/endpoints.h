/* The endpoints of a fabric: injection splits packets into flits, ejection reassembles them. Private to fabric.c. */
#ifndef SLUICE_NOC_ENDPOINTS_H
#define SLUICE_NOC_ENDPOINTS_H

#include <string.h>

#include "noc/network.h"
#include "noc/router.h"

/* Packets in flight. */
struct packet_pool {
    unsigned char *packet; /* [count] of struct packet */
    uint32_t *free;        /* unused names */
    uint32_t count, free_count;
    unsigned planes; /* of tallies of a packet's flits */
};

/* Injection (inject.c): the inputs of the first stage, each shared by one or more sources. Sources are served round
 * robin, one packet at a time, one flit per cycle. */
struct injection {
    struct network *network;
    struct packet_pool *pool;
    struct link *link;   /* to the first stage, */
    struct buffers next; /* and the buffers there */
    unsigned inputs, sources_each;
    unsigned vcs, vc_shift;
    unsigned words;                          /* of a mask over the inputs, */
    unsigned source_words;                   /* and of those over all sources */
    bool simple;                             /* one source and one VC per input */
    uint64_t (*pushed)[2];                   /* [sources_each][words]: set by the sources' ports (port_watch) */
    uint64_t *arrived;                       /* [sources_each][words]: the source has a message */
    uint64_t *idle;                          /* [words]: has no packet to send */
    uint64_t *choosing;                      /* [words]: several VCs: has a packet without a VC, */
    uint64_t *blocked;                       /* [words]: because no VC has a credit, */
    bool any_blocked;                        /* in any word */
    uint64_t *sending;                       /* [link->words] by VC of the link: is sending a packet, */
    struct tally *left;                      /* [link->words]: of which this many flits remain */
    uint32_t *packet;                        /* [inputs]: several VCs: the packet without a VC */
    uint16_t *turn;                          /* [inputs]: round-robin pointer over its sources */
    uint8_t *vc;                             /* [inputs]: several VCs: the VC chosen last */
    size_t destination_at;                   /* offset of the destination in a message */
    uint16_t flits_of[MESSAGE_ACK + 1][256]; /* packet length by the message's kind and sectors */
};

void injection_init(struct injection *injection, struct network *network, struct packet_pool *pool, struct link *link,
                    const struct router_stage *next, unsigned sources_each);
void injection_release(struct injection *injection);
/* Remaining flits of the packet that an input is sending. */
unsigned injection_left(const struct injection *injection, unsigned input);
/* Collects messages that the sources pushed and that are visible from `now` on. */
void injection_collect(struct injection *injection, uint64_t now);
void injection_credit(struct injection *injection, unsigned word, uint64_t mask);
/* Accepts new packets and sends one flit from each input that can. Returns whether the next cycle has work even if
 * nothing arrives. */
bool injection_run(struct injection *injection, uint64_t cycle, uint64_t now);
static inline uint16_t injection_destination(const struct injection *injection, const struct message *message) {
    uint16_t destination;
    memcpy(&destination, (const unsigned char *)message + injection->destination_at, sizeof destination);
    assert(destination < injection->network->destinations);
    return destination;
}

static inline uint16_t injection_flits(const struct injection *injection, const struct message *message) {
    return injection->flits_of[message->kind][message->sectors];
}

/* Converts a message to a packet. */
static inline void injection_fill(const struct injection *injection, struct packet *packet,
                                  const struct message *message, uint64_t cycle) {
    packet->message = *message;
    packet->start = cycle;
    packet->destination = injection_destination(injection, message);
    packet->flits = injection_flits(injection, message);
}

/* Ejection (eject.c): the far end of the last stage's outputs, each shared by one or more destinations. Each VC has a
 * buffer, numbered like its output VC. Flits leave it at once if their packet has a place in the ejection queue of its
 * destination; otherwise they stay and keep their credits. */
struct ejection {
    struct network *network;
    struct packet_pool *pool;
    struct link *link; /* from the last stage */
    struct buffers buffers;
    unsigned vc_shift;
    struct admission {
        uint32_t admitted, limit; /* packets, free-running; limit: by the places known to be free */
    } * admission;                /* [destinations] */
    uint64_t *entered;            /* [link->words]: the first packet has been admitted, */
    struct tally *left;           /* [link->words]: and this many of its flits remain */
    uint64_t *holding;            /* [link->words]: has flits that wait, */
    uint16_t *waiting;            /* [VCs]: this many, */
    uint8_t *turn;                /* [outputs]: round-robin pointer over its VCs */
    unsigned held;                /* total over all buffers */
    bool draining;                /* flits left in the last cycle, so more may leave in the next */
    uint64_t *
        drained; /* [link->words]: VCs of outputs that ejected a waiting flit in cycle `drained_in`, and eject no other */
    uint64_t drained_in;
};

void ejection_init(struct ejection *ejection, struct network *network, struct packet_pool *pool, struct link *link,
                   unsigned outputs);
void ejection_release(struct ejection *ejection);
/* Flits arrive, by VC of one word of the link's mask. */
void ejection_arrive(struct ejection *ejection, unsigned word, uint64_t mask, uint64_t cycle, uint64_t now);
/* Waiting flits leave if they can, one per cycle and output, before flits that arrive in the same cycle. */
void ejection_drain(struct ejection *ejection, uint64_t cycle, uint64_t now);

#endif
