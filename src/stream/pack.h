/* Packed records: the compact form of a stream that is produced ahead of consumption. Packing is lossless except for
 * `touches`, which is an index into the reader's buffer.
 *
 * A warp mostly executes consecutive instructions with the same lanes, as the static records of its program describe.
 * A record therefore encodes only its differences from the expected one:
 *
 *     rrrrrrr0                       r + 1 records, each the static record of the next id, lanes unchanged
 *     cccTFAJ1 [id] [lanes] [fields] [touches]
 *         J  id: distance from the next id, zigzag varint
 *         A  lanes: exclusive or with the previous lanes, varint; 0 means the lanes before these
 *         F  fields: varint with a bit for each byte from `op` on that differs from the static record, then those bytes
 *         T  touches: c of them, or c = 0 and a varint; first block relative to the warp's last one, zigzag; with
 *            several touches that number is doubled, and odd if all sectors and distances are equal
 *              equal:  sectors, distance - 1
 *              else:   sectors of the first; for each following one: distance - 1, sectors
 *
 * Writer and reader both carry a `struct pack_context` from record to record, initialised by pack_start. */
#ifndef SLUICE_STREAM_PACK_H
#define SLUICE_STREAM_PACK_H

#include "stream/stream.h"

struct pack_context {
    uint32_t id;             /* of the last record */
    uint32_t active, before; /* its lanes, and the previous different ones */
    uint32_t run;            /* reader: remaining records of a run */
    uint64_t block;          /* the last block touched */
};

enum {
    PACK_VARINT_BYTES = 10,
    PACK_FIELDS = 20,       /* bytes of a record from `op` to `count` */
    PACK_ACCESS_FIELDS = 8, /* of these, up to `updates` */
    /* Upper bound on the size of a record, and a word written too far. */
    PACK_RECORD_BYTES = 1 + 2 * 5 + 3 + PACK_FIELDS + 3 + STREAM_TOUCHES * (PACK_VARINT_BYTES + 1) + 8,
};

static inline void pack_start(struct pack_context *context) {
    *context = (struct pack_context){.id = UINT32_MAX, .active = UINT32_MAX};
}

/* The output buffer of a warp's packed records. A new buffer (used = 0, run_at = PACK_NO_RUN) continues the context. */
struct packer {
    struct pack_context context;
    uint8_t *bytes;
    uint32_t used;
    uint32_t run_at; /* position of a run that can be extended */
};
enum { PACK_NO_RUN = UINT32_MAX };

/* Appends one record; PACK_RECORD_BYTES must be free. `base` is the static record of its id. */
void pack_put(struct packer *packer, const struct instr *base, const struct instr *record, const uint64_t *touches);
/* The same for a memory record that differs from `base` only in lanes, count and the first PACK_ACCESS_FIELDS bytes. */
void pack_put_access(struct packer *packer, const struct instr *base, const struct instr *record,
                     const uint64_t *touches);
/* Appends up to `count` static records with these lanes, `base` and those after it, and returns how many: all that
 * extend the current run, or else as many as a new one holds. None is a memory record. */
uint32_t pack_put_static(struct packer *packer, const struct instr *base, uint32_t active, uint32_t count);

struct unpacker {
    struct pack_context context;
    const uint8_t *at, *end;
};

/* Fills the warp's buffer, from its first touch on, with as many records as are available and fit. `records`: static
 * records, by id. False if the encoding is invalid. */
bool pack_take(struct unpacker *unpacker, const struct instr *records, uint32_t record_count, struct warp_stream *warp);

#endif
