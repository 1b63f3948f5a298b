#include "stream/pack.h"

#include <string.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

enum { HEAD_RECORD = 1, HEAD_JUMP = 2, HEAD_LANES = 4, HEAD_FIELDS = 8, HEAD_TOUCHES = 16, HEAD_COUNT_SHIFT = 5 };
enum {
    RUN_STEP = 2,
    RUN_FULL = 0xFE,
    FIELDS_AT = offsetof(struct instr, op),
    COUNT_AT = offsetof(struct instr, count),
    /* More than a record takes up to its second touch: head, seven varints, fields, sectors; and a word read too far. */
    SURE_BYTES = 1 + 7 * PACK_VARINT_BYTES + PACK_FIELDS + 1 + sizeof(uint64_t),
};
_Static_assert(FIELDS_AT + PACK_FIELDS == offsetof(struct instr, touches), "the fields end at touches");

/* --- writing --- */

static ALWAYS_INLINE uint8_t *put_varint(uint8_t *to, uint64_t value) {
#ifdef __BMI2__
    if (UNLIKELY(value >= 0x80 && value >> 56 == 0)) { /* seven bits to a byte, at once */
        unsigned last = log2_floor(value) / 7;
        uint64_t word = _pdep_u64(value, UINT64_C(0x7F7F7F7F7F7F7F7F));
        word |= ((UINT64_C(1) << last * 8) - 1) & UINT64_C(0x8080808080808080);
        memcpy(to, &word, sizeof word);
        return to + last + 1;
    }
#endif
    for (; UNLIKELY(value >= 0x80); value >>= 7) *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (uint64_t)(value >> 63); }

static uint8_t *put_fields(uint8_t *to, const uint8_t *record, uint32_t differ) {
    to = put_varint(to, differ);
    for (; differ; differ &= differ - 1) *to++ = record[FIELDS_AT + lowest_bit(differ)];
    return to;
}

/* A bit for each of eight bytes that differs. */
static ALWAYS_INLINE uint32_t bytes_that_differ(const uint8_t *a, const uint8_t *b, size_t bytes) {
    uint64_t x = 0, y = 0;
    uint32_t differ = 0;
    memcpy(&x, a, bytes);
    memcpy(&y, b, bytes);
    for (x ^= y; UNLIKELY(x); x &= ~(UINT64_C(0xFF) << lowest_bit(x) / 8 * 8))
        differ |= UINT32_C(1) << lowest_bit(x) / 8;
    return differ;
}

/* A bit for each byte that differs. The count of a memory record is encoded with its touches. */
static ALWAYS_INLINE uint32_t fields_that_differ(const struct instr *base, const struct instr *record) {
    const uint8_t *a = (const uint8_t *)base + FIELDS_AT, *b = (const uint8_t *)record + FIELDS_AT;
    enum { WORD = sizeof(uint64_t), REST = COUNT_AT - FIELDS_AT - 2 * WORD };
    uint32_t differ = bytes_that_differ(a, b, WORD) | bytes_that_differ(a + WORD, b + WORD, WORD) << WORD |
                      bytes_that_differ(a + 2 * WORD, b + 2 * WORD, REST) << 2 * WORD;
    if (!instr_is_memory(record))
        differ |= bytes_that_differ((const uint8_t *)&base->count, (const uint8_t *)&record->count, 2)
                  << (COUNT_AT - FIELDS_AT);
    return differ;
}

static bool are_alike(const uint64_t *touches, unsigned count) {
    uint64_t distance = touches[1] - touches[0], differ = touch_sectors(distance);
    if (differ || (count > 2 && touches[2] - touches[1] != distance)) return false;
    for (unsigned i = 2; i < count; i++) differ |= (touches[i] - touches[i - 1]) ^ distance;
    return !differ;
}

static uint8_t *put_touches(struct packer *packer, uint8_t *to, const uint64_t *touches, unsigned count) {
    uint64_t block = touches[0] / TOUCH_BLOCK_BYTES, first = zigzag((int64_t)(block - packer->context.block));
    packer->context.block = touches[count - 1] / TOUCH_BLOCK_BYTES;
    if (count >= 1u << (8 - HEAD_COUNT_SHIFT)) to = put_varint(to, count);
    bool alike = count > 1 && are_alike(touches, count);
    to = put_varint(to, count > 1 ? first << 1 | alike : first);
    *to++ = touch_sectors(touches[0]);
    if (alike) return put_varint(to, touches[1] / TOUCH_BLOCK_BYTES - block - 1);
    for (unsigned i = 1; i < count; i++) {
        uint64_t next = touches[i] / TOUCH_BLOCK_BYTES;
        to = put_varint(to, next - block - 1);
        *to++ = touch_sectors(touches[i]);
        block = next;
    }
    return to;
}

/* Begins a run of records that need no description, with one. */
static inline void run_begin(struct packer *packer) {
    packer->context.id++;
    packer->run_at = packer->used;
    packer->bytes[packer->used++] = 0;
}

/* Extends the current run, if there is one, by up to `count` records; returns by how many. */
static inline uint32_t run_extend(struct packer *packer, uint32_t count) {
    if (packer->run_at == PACK_NO_RUN) return 0;
    uint8_t *run = &packer->bytes[packer->run_at];
    uint32_t room = (uint32_t)(RUN_FULL - *run) / RUN_STEP, added = count < room ? count : room;
    *run = (uint8_t)(*run + added * RUN_STEP);
    packer->context.id += added;
    return added;
}

static inline bool is_expected(const struct pack_context *context, uint32_t id, uint32_t active) {
    return id == (uint32_t)(context->id + 1) && active == context->active;
}

static ALWAYS_INLINE void put_described(struct packer *packer, const struct instr *record, uint32_t active,
                                        uint32_t differ, unsigned count, const uint64_t *touches) {
    struct pack_context *context = &packer->context;
    int64_t jump = (int64_t)record->id - (int64_t)(uint32_t)(context->id + 1);
    uint32_t lanes = active ^ context->active;
    context->id = record->id;
    packer->run_at = PACK_NO_RUN;
    assert(count <= STREAM_TOUCHES);
    uint8_t *to = packer->bytes + packer->used;
    *to++ =
        (uint8_t)(HEAD_RECORD | (jump ? HEAD_JUMP : 0) | (lanes ? HEAD_LANES : 0) | (differ ? HEAD_FIELDS : 0) |
                  (count ? HEAD_TOUCHES : 0) | (count < 1u << (8 - HEAD_COUNT_SHIFT) ? count << HEAD_COUNT_SHIFT : 0));
    if (jump) to = put_varint(to, zigzag(jump));
    if (lanes) {
        to = put_varint(to, active == context->before ? 0 : lanes);
        context->before = context->active;
        context->active = active;
    }
    if (differ) to = put_fields(to, (const uint8_t *)record, differ);
    if (count) to = put_touches(packer, to, touches, count);
    packer->used = (uint32_t)(to - packer->bytes);
}

static ALWAYS_INLINE void put_record(struct packer *packer, const struct instr *record, uint32_t differ, unsigned count,
                                     const uint64_t *touches) {
    if (count || differ || !is_expected(&packer->context, record->id, record->active))
        put_described(packer, record, record->active, differ, count, touches);
    else if (!run_extend(packer, 1))
        run_begin(packer);
}

void pack_put(struct packer *packer, const struct instr *base, const struct instr *record, const uint64_t *touches) {
    put_record(packer, record, fields_that_differ(base, record), instr_is_memory(record) ? record->count : 0, touches);
}

void pack_put_access(struct packer *packer, const struct instr *base, const struct instr *record,
                     const uint64_t *touches) {
    assert(instr_is_memory(record) && !(fields_that_differ(base, record) >> PACK_ACCESS_FIELDS));
    uint32_t differ =
        bytes_that_differ((const uint8_t *)base + FIELDS_AT, (const uint8_t *)record + FIELDS_AT, PACK_ACCESS_FIELDS);
    put_record(packer, record, differ, record->count, touches);
}

uint32_t pack_put_static(struct packer *packer, const struct instr *base, uint32_t active, uint32_t count) {
    assert(count && !instr_is_memory(base));
    uint32_t put = 0;
    if (is_expected(&packer->context, base->id, active)) {
        put = run_extend(packer, count);
        if (put) return put;
    } else {
        put_described(packer, base, active, 0, 0, NULL);
        if (++put == count) return put;
    }
    run_begin(packer);
    return put + 1 + run_extend(packer, count - put - 1);
}

/* --- reading --- */

enum pack_verdict {
    PACK_TAKEN,
    PACK_FULL, /* the touches do not fit */
    PACK_BAD,  /* not a valid encoding */
};

/* A position in packed bytes. Reading beyond the end returns zero and sets `overrun`. */
struct cursor {
    const uint8_t *at, *end;
    bool overrun;
};

/* `sure`: the bytes of the record, up to its second touch, are present. */
static ALWAYS_INLINE uint8_t get_byte(struct cursor *from, bool sure) {
    if (sure || LIKELY(from->at < from->end)) return *from->at++;
    from->overrun = true;
    return 0;
}

static ALWAYS_INLINE uint64_t get_varint(struct cursor *from, bool sure) {
    uint64_t value = get_byte(from, sure);
    if (LIKELY(value < 0x80)) return value;
#ifdef __BMI2__
    if (sure) { /* up to eight bytes at once; the last one is the first without its highest bit */
        uint64_t word, ends;
        memcpy(&word, from->at - 1, sizeof word);
        ends = ~word & UINT64_C(0x8080808080808080);
        if (LIKELY(ends)) {
            from->at += lowest_bit(ends) / 8;
            return _pext_u64(word, (ends ^ (ends - 1)) & UINT64_C(0x7F7F7F7F7F7F7F7F));
        }
    }
#endif
    value &= 0x7F;
    for (unsigned shift = 7; shift < 64; shift += 7) {
        uint8_t byte = get_byte(from, sure);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

static inline int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1 ^ -(value & 1)); }

static ALWAYS_INLINE enum pack_verdict get_touches(struct cursor *from, struct pack_context *context, unsigned count,
                                                   struct instr *record, uint64_t *touches, unsigned room, bool sure) {
    if (count == 0) {
        uint64_t many = get_varint(from, sure);
        if (many == 0 || many > STREAM_TOUCHES) return PACK_BAD;
        count = (unsigned)many;
    }
    if (count > room) return PACK_FULL;
    uint64_t first = get_varint(from, sure), block = context->block;
    bool alike = count > 1 && (first & 1);
    block += (uint64_t)unzigzag(count > 1 ? first >> 1 : first);
    uint8_t sectors = get_byte(from, sure);
    touches[0] = touch_make(block * TOUCH_BLOCK_BYTES, sectors);
    if (alike) {
        uint64_t distance = get_varint(from, sure) + 1;
        for (unsigned i = 1; i < count; i++) {
            block += distance;
            touches[i] = touch_make(block * TOUCH_BLOCK_BYTES, sectors);
        }
    } else {
        unsigned i = 1;
        if (LIKELY(from->end - from->at >= 2 * (ptrdiff_t)(count - 1))) { /* as long as distances take one byte */
            const uint8_t *at = from->at;
            for (; i < count && at[0] < 0x80; i++, at += 2) {
                block += at[0] + 1u;
                touches[i] = touch_make(block * TOUCH_BLOCK_BYTES, at[1]);
            }
            from->at = at;
        }
        for (; i < count; i++) {
            block += get_varint(from, false) + 1;
            touches[i] = touch_make(block * TOUCH_BLOCK_BYTES, get_byte(from, false));
        }
    }
    context->block = block;
    record->count = (uint16_t)count;
    return PACK_TAKEN;
}

/* The active lanes of the next record. */
static ALWAYS_INLINE void get_lanes(struct cursor *from, struct pack_context *context, bool sure) {
    uint32_t change = (uint32_t)get_varint(from, sure), active = context->active;
    context->active = change ? active ^ change : context->before;
    context->before = active;
}

/* A record with a description. Cursor and context are undefined unless it is taken. */
static ALWAYS_INLINE enum pack_verdict get_described(struct cursor *from, struct pack_context *context,
                                                     const struct instr *records, uint32_t record_count,
                                                     struct instr *record, uint64_t *touches, unsigned room,
                                                     bool sure) {
    uint8_t head = get_byte(from, sure);
    uint32_t id = context->id + 1;
    if (head & HEAD_JUMP) id += (uint32_t)unzigzag(get_varint(from, sure));
    if (id >= record_count) return PACK_BAD;
    context->id = id;
    *record = records[id];
    record->touches = 0;
    if (head & HEAD_LANES) get_lanes(from, context, sure);
    record->active = context->active;
    if (head & HEAD_FIELDS) {
        uint64_t differ = get_varint(from, sure);
        if (differ >> PACK_FIELDS) return PACK_BAD;
        for (; differ; differ &= differ - 1) ((uint8_t *)record)[FIELDS_AT + lowest_bit(differ)] = get_byte(from, sure);
    }
    bool memory = instr_is_memory(record);
    if (head & HEAD_TOUCHES) {
        if (!memory) return PACK_BAD;
        enum pack_verdict verdict = get_touches(from, context, head >> HEAD_COUNT_SHIFT, record, touches, room, sure);
        if (verdict != PACK_TAKEN) return verdict;
    } else if (memory) {
        record->count = 0;
    }
    return from->overrun ? PACK_BAD : PACK_TAKEN;
}

/* As one vector. */
static ALWAYS_INLINE void copy_record(struct instr *to, const struct instr *from) {
    typedef uint64_t vector __attribute__((vector_size(sizeof(struct instr))));
    vector record;
    memcpy(&record, from, sizeof record);
    memcpy(to, &record, sizeof record);
}

/* The records of the current run; false if one has no static record. */
static ALWAYS_INLINE bool get_run(struct pack_context *context, const struct instr *records, uint32_t record_count,
                                  struct instr *to, unsigned count, unsigned touches) {
    uint32_t id = context->id + 1;
    if (count > record_count || id > record_count - count) return false;
    const struct instr *from = records + id;
#pragma GCC unroll 1
    for (const struct instr *end = to + count; to != end; to++, from++) {
        copy_record(to, from);
        to->active = context->active;
        to->touches = 0;
        if (!instr_is_memory(from)) continue;
        to->touches = touches;
        to->count = 0;
    }
    context->id += count;
    context->run -= count;
    return true;
}

bool pack_take(struct unpacker *unpacker, const struct instr *records, uint32_t record_count,
               struct warp_stream *warp) {
    struct cursor from = {unpacker->at, unpacker->end, false};
    struct pack_context context = unpacker->context;
    unsigned touches = 0, count = warp->count;
    bool good = true;
    while (good && count < STREAM_CHUNK) {
        struct instr *record = &warp->instr[count];
        if (context.run == 0) {
            if (from.at == from.end) break;
            if (*from.at & HEAD_RECORD) {
                struct cursor ahead = from;
                struct pack_context next = context;
                uint64_t *touch = warp->touch + touches;
                unsigned room = STREAM_TOUCHES - touches;
                enum pack_verdict verdict =
                    LIKELY(from.end - from.at >= SURE_BYTES)
                        ? get_described(&ahead, &next, records, record_count, record, touch, room, true)
                        : get_described(&ahead, &next, records, record_count, record, touch, room, false);
                good = verdict != PACK_BAD;
                if (verdict != PACK_TAKEN) break;
                from = ahead;
                context = next;
                count++;
                if (instr_is_memory(record)) {
                    record->touches = touches;
                    touches += record->count;
                }
                continue;
            }
            context.run = *from.at++ / RUN_STEP + 1u;
        }
        unsigned room = STREAM_CHUNK - count, many = context.run < room ? context.run : room;
        good = get_run(&context, records, record_count, record, many, touches);
        if (good) count += many;
    }
    warp->count = count;
    unpacker->at = from.at;
    unpacker->context = context;
    return good;
}
