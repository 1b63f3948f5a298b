/* All links that end at one place: at the input VCs of a stage, or at the ejectors. A link carries one flit forward and
 * one credit back per cycle. The far end knows in advance to which packet a flit belongs (router.h, struct buffer), so
 * everything in flight is one bit per VC at the far end: arriving flits, returning credits, VCs with credits. */
#ifndef SLUICE_NOC_LINK_H
#define SLUICE_NOC_LINK_H

#include "noc/tally.h"
#include "noc/timeline.h"

/* 64 VCs at the far end. */
struct link_word {
    uint64_t spent;       /* receives a flit that was sent in this step */
    uint64_t credit;      /* has a credit, */
    struct tally credits; /* this many */
    uint64_t spare[4];
};
_Static_assert(sizeof(struct link_word) == 128, "two lines of the host's cache");

struct link {
    struct timeline *time;
    unsigned words;               /* of a mask over the VCs at the far end */
    unsigned planes;              /* of the credits */
    unsigned arriving, returning; /* offsets of these masks in a row of the timeline */
    unsigned flit_cycles;         /* from leaving the near end until visible at the far end */
    unsigned credit_cycles;       /* from leaving the buffer until the credit is usable at the near end */
    struct link_word *word;
};

/* Allocates its masks in the timeline's rows, of which `*row_words` words are in use. */
static inline void link_init(struct link *link, struct timeline *time, unsigned *row_words, unsigned vcs,
                             unsigned vc_flits) {
    unsigned words = (unsigned)div_up(vcs, 64);
    *link = (struct link){.time = time,
                          .words = words,
                          .planes = tally_planes(vc_flits),
                          .arriving = *row_words,
                          .returning = *row_words + words,
                          .word = mem_alloc(words, sizeof *link->word)};
    *row_words += 2 * words;
}

static inline void link_release(struct link *link) { free(link->word); }

/* Adds a VC with an empty buffer. */
static inline void link_add_vc(struct link *link, unsigned vc, unsigned vc_flits) {
    tally_set(&link->word[vc / 64].credits, vc % 64, vc_flits);
    link->word[vc / 64].credit |= UINT64_C(1) << (vc % 64);
}

static inline unsigned link_credits(const struct link *link, unsigned vc) {
    return tally_value(&link->word[vc / 64].credits, vc % 64);
}

/* Sends a flit to every VC of `mask`. Returns those without credits left. `planes` is that of the link. */
static inline uint64_t link_spend(struct link *link, unsigned word, unsigned planes, uint64_t mask) {
    struct link_word *w = &link->word[word];
    w->credit = tally_take(&w->credits, planes, mask);
    return mask & ~w->credit;
}

/* Returns a credit to every VC of `mask`. Returns those that had none. */
static inline uint64_t link_repay(struct link *link, unsigned word, uint64_t mask) {
    struct link_word *w = &link->word[word];
    uint64_t supplied = mask & ~w->credit;
    tally_add(&w->credits, mask);
    w->credit |= mask;
    return supplied;
}

#endif
