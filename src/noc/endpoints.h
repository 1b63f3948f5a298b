/* The two ends of a fabric: where packets become flits and flits become packets again. For fabric.c. */
#ifndef SLUICE_NOC_ENDPOINTS_H
#define SLUICE_NOC_ENDPOINTS_H

#include "noc/network.h"
#include "noc/stage.h"

/* Packets on their way. */
struct packet_pool {
    unsigned char *packet; /* [count] of struct packet */
    uint32_t *free;        /* names that are not in use */
    uint32_t count, free_count;
};

/* Injection (inject.c): the inputs of the first stage, each shared by one source or more. One packet at a time, sources taking turns, one flit per cycle.
 * Masks are over inputs. */
struct injection {
    struct network *network;
    struct packet_pool *pool;
    struct timeline *time;
    unsigned flit_list, wake_list;   /* of the timeline */
    unsigned link_cycles;
    unsigned inputs, sources_each;
    unsigned vcs, vc_shift;
    unsigned words;                  /* of a mask */
    uint64_t (*pushed)[2];           /* [sources_each][words]: set by the sources' ports (port_watch) */
    uint64_t *arrived;               /* [sources_each][words]: the source has a message */
    uint64_t *idle;                  /* [words]: has no packet to send */
    uint64_t *blocked;               /* [words]: found no credit for its next flit */
    uint64_t *flit;                  /* [inputs]: the next flit and where it goes */
    uint32_t *left;                  /* [inputs]: flits of its packet that have not been sent */
    uint16_t *turn;                  /* [inputs]: source that is preferred next */
    uint8_t *vc;                     /* [inputs]: of the packet that is being sent, or was last */
    bool *started;                   /* [inputs]: the packet has its VC */
    uint64_t *target;                /* [inputs << vc_shift] << 32: input VC */
    uint64_t *credit;                /* [credit_words] bits by input << vc_shift | VC: there is a credit */
    struct tally credits;            /* how many */
    unsigned credit_words;
    uint16_t flits_of[MESSAGE_ACK + 1][256]; /* length of a packet, by the message's kind and sectors */
};

void injection_init(struct injection *injection, struct network *network, struct packet_pool *pool, struct timeline *time, unsigned inputs,
                    unsigned sources_each);
void injection_release(struct injection *injection);
/* What the sources pushed and can be seen from `now` on. */
void injection_collect(struct injection *injection, uint64_t now);
/* Sources whose message has become visible: events of the wake list. */
void injection_wake(struct injection *injection, const uint64_t *event, unsigned count);
void injection_credit(struct injection *injection, unsigned word, uint64_t mask);
/* Takes new packets and sends one flit from every input that can. */
void injection_run(struct injection *injection, uint64_t cycle, uint64_t now);
/* Whether the next cycle has anything to do even if nothing arrives. */
bool injection_ready(const struct injection *injection);

/* Where an output of the last stage ends, one for each VC, named by its place: number << EJECTOR_SHIFT. Flits leave it at once while their packet
 * has a place at its destination; otherwise they wait here and their credits with them. */
struct ejector {
    uint32_t head, tail;
    bool open;              /* the packet that is arriving has its place */
    bool passing;           /* and no flit waits here: the next may pass */
    uint32_t upstream_word; /* whose credit a place here is */
    uint64_t upstream_bit;
    uint32_t *flit;         /* [buffer] */
};
enum { EJECTOR_SHIFT = 5 };
_Static_assert(sizeof(struct ejector) == 1 << EJECTOR_SHIFT, "two to a line of the host's cache");

/* Ejection (eject.c): the outputs of the last stage, each shared by one destination or more. */
struct ejection {
    struct network *network;
    struct packet_pool *pool;
    struct timeline *time;
    unsigned credit_mask;            /* of the timeline */
    unsigned credit_cycles;          /* from taking a flit to the credit's use upstream */
    unsigned vcs, vc_shift, vc_count;
    struct ejector *ejector;         /* [vc_count], numbered as the last stage's output VCs */
    uint32_t *flit;                  /* their buffers */
    unsigned buffer_mask;
    uint16_t *places, *promised;     /* [destinations]: known to be free; promised to packets that are arriving */
    uint64_t *holding;               /* [words] by ejector: there are flits in its buffer */
    unsigned words;
    unsigned held;                   /* flits in all of these buffers */
    bool draining;                   /* some left in the last cycle, so more may in the next */
};

void ejection_init(struct ejection *ejection, struct network *network, struct packet_pool *pool, struct timeline *time, unsigned outputs);
void ejection_release(struct ejection *ejection);
void ejection_arrive(struct ejection *ejection, const uint64_t *event, unsigned count, uint64_t cycle, uint64_t now);
/* Flits that wait leave if they can now, one per cycle and output. Older than those that arrive in the same cycle, they come first. */
void ejection_drain(struct ejection *ejection, uint64_t cycle, uint64_t now);

#endif
