/* Records packed into bytes: how streams are kept that are made ahead of need. Packing is exact: what comes out equals
 * what went in, but for `touches`, which is a place in the reader's buffer.
 *
 * A warp mostly runs straight ahead with the same lanes and does what its program's static record says. So a record is
 * told by what it does not share with its expectation:
 *
 *     rrrrrrr0                       r + 1 records, each the static one of the next id, lanes as before
 *     cccTFAJ1 [id] [lanes] [fields] [touches]
 *         J  id: how far it is from the next one, zigzag varint
 *         A  lanes: what changes, as a varint of the exclusive or; 0 stands for the lanes before these
 *         F  fields: varint of a bit for each byte from `op` on that differs from the static record, then those bytes
 *         T  touches: c of them, or 0 and a varint; first block relative to the warp's last one, zigzag; if there are
 *            several, the number is doubled and odd when all sectors and distances are alike
 *              alike:  sectors, distance - 1
 *              else:   sectors of the first, then of each other one: distance - 1, sectors
 *
 * Both sides carry a `struct pack_context` from record to record; it starts the same (pack_start). */
#ifndef SLUICE_STREAM_PACK_H
#define SLUICE_STREAM_PACK_H

#include "stream/stream.h"

struct pack_context {
    uint32_t id;             /* of the last record */
    uint32_t active, before; /* its lanes, and those that differed last */
    uint32_t run;            /* reading: records left of a run */
    uint64_t block;          /* the last touched */
};

enum {
    PACK_VARINT_BYTES = 10,
    PACK_FIELDS = 20, /* bytes of a record from `op` to `count` */
    /* No record takes more. */
    PACK_RECORD_BYTES = 1 + 2 * 5 + 3 + PACK_FIELDS + 3 + STREAM_TOUCHES * (PACK_VARINT_BYTES + 1),
};

static inline void pack_start(struct pack_context *context) {
    *context = (struct pack_context){.id = UINT32_MAX, .active = UINT32_MAX};
}

/* Where a warp's records are packed to. A new buffer (used = 0, run_at = PACK_NO_RUN) continues the context. */
struct packer {
    struct pack_context context;
    uint8_t *bytes;
    uint32_t used;
    uint32_t run_at; /* where a run stands that may still grow */
};
enum { PACK_NO_RUN = UINT32_MAX };

/* Appends one record; there must be room for PACK_RECORD_BYTES. `base` is the static record of its id. */
void pack_put(struct packer *packer, const struct instr *base, const struct instr *record, const uint64_t *touches);

struct unpacker {
    struct pack_context context;
    const uint8_t *at, *end;
    bool overrun; /* a record was cut off */
};

enum pack_verdict {
    PACK_TAKEN,
    PACK_END,  /* no more bytes */
    PACK_FULL, /* its touches need more room; nothing was taken */
    PACK_BAD,  /* no record is packed like this */
};

/* The next record; its touches go to `touches`, `room` of which are free. `records` are the static ones, by id. */
enum pack_verdict pack_get(struct unpacker *unpacker, const struct instr *records, uint32_t record_count,
                           struct instr *record, uint64_t *touches, unsigned room);
/* Adds to the warp's buffer, from its first touch on, as many records as the bytes and the buffer have. False if no record
 * is packed like this. */
bool pack_take(struct unpacker *from, const struct instr *records, uint32_t record_count, struct warp_stream *warp);

#endif
