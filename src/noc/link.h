/* All links that end in one place: at the input VCs of a stage, or at the ejectors. A link carries a flit forth and a
 * credit back in a cycle. Which packet a flit belongs to is known at the far end before it comes (stage.h, struct
 * buffer), so everything in flight is bits, one for each VC at the far end: flits that arrive, credits that return, VCs
 * that have credits.
 */
#ifndef SLUICE_NOC_LINK_H
#define SLUICE_NOC_LINK_H

#include "noc/tally.h"
#include "noc/timeline.h"

/* 64 VCs at the far end. */
struct link_word {
    uint64_t spent;       /* was sent a flit in this step */
    uint64_t credit;      /* has a credit, */
    struct tally credits; /* so many */
    uint64_t spare[4];
};
_Static_assert(sizeof(struct link_word) == 128, "two lines of the host's cache");

struct link {
    struct timeline *time;
    unsigned words;               /* of a mask over the VCs at the far end */
    unsigned planes;              /* of the credits */
    unsigned arriving, returning; /* where in a row of the timeline these masks are */
    unsigned flit_cycles;         /* from leaving the near end to being seen */
    unsigned credit_cycles;       /* from leaving the buffer to the credit's use at the near end */
    struct link_word *word;
};

/* Takes its part of the timeline's rows, of which `*row_words` are in use. */
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

/* The VC exists, and its buffer is empty. */
static inline void link_add_vc(struct link *link, unsigned vc, unsigned vc_flits) {
    tally_set(&link->word[vc / 64].credits, vc % 64, vc_flits);
    link->word[vc / 64].credit |= UINT64_C(1) << (vc % 64);
}

static inline unsigned link_credits(const struct link *link, unsigned vc) {
    return tally_value(&link->word[vc / 64].credits, vc % 64);
}

/* A flit is sent to every VC of `mask`. Returns those whose credits it used up. `planes` are the link's. */
static inline uint64_t link_spend(struct link *link, unsigned word, unsigned planes, uint64_t mask) {
    struct link_word *w = &link->word[word];
    w->credit = tally_take(&w->credits, planes, mask);
    return mask & ~w->credit;
}

/* Credits of the VCs of `mask` have returned. Returns those that had none. */
static inline uint64_t link_repay(struct link *link, unsigned word, uint64_t mask) {
    struct link_word *w = &link->word[word];
    uint64_t supplied = mask & ~w->credit;
    tally_add(&w->credits, mask);
    w->credit |= mask;
    return supplied;
}

#endif
