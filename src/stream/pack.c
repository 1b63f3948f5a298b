#include "stream/pack.h"

#include <string.h>

enum { HEAD_RECORD = 1, HEAD_JUMP = 2, HEAD_LANES = 4, HEAD_FIELDS = 8, HEAD_TOUCHES = 16, HEAD_COUNT_SHIFT = 5 };
enum {
    RUN_STEP = 2,
    RUN_FULL = 0xFE,
    FIELDS_AT = offsetof(struct instr, op),
    COUNT_AT = offsetof(struct instr, count)
};
_Static_assert(FIELDS_AT + PACK_FIELDS == offsetof(struct instr, touches), "the fields end at touches");

/* --- writing --- */

static inline void put_byte(struct packer *packer, uint8_t byte) { packer->bytes[packer->used++] = byte; }

static inline void put_varint(struct packer *packer, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte(packer, (uint8_t)(value | 0x80));
    put_byte(packer, (uint8_t)value);
}

static inline uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (uint64_t)(value >> 63); }

static void put_fields(struct packer *packer, const uint8_t *record, uint32_t differ) {
    put_varint(packer, differ);
    for (; differ; differ &= differ - 1) put_byte(packer, record[FIELDS_AT + lowest_bit(differ)]);
}

/* A bit for each byte that differs. The count of a memory record is encoded with its touches. */
static inline uint32_t fields_that_differ(const struct instr *base, const struct instr *record) {
    const uint8_t *a = (const uint8_t *)base, *b = (const uint8_t *)record;
    unsigned count = instr_is_memory(record) ? COUNT_AT - FIELDS_AT : PACK_FIELDS;
    uint32_t differ = count == PACK_FIELDS && base->count != record->count;
    for (unsigned i = 0; i < COUNT_AT - FIELDS_AT; i++) differ |= a[FIELDS_AT + i] ^ b[FIELDS_AT + i];
    if (!differ) return 0;
    differ = 0;
    for (unsigned i = 0; i < count; i++) differ |= (uint32_t)(a[FIELDS_AT + i] != b[FIELDS_AT + i]) << i;
    return differ;
}

static bool are_alike(const uint64_t *touches, unsigned count) {
    for (unsigned i = 2; i < count; i++)
        if (touches[i] - touches[i - 1] != touches[1] - touches[0]) return false;
    return touch_sectors(touches[0]) == touch_sectors(touches[1]);
}

static void put_touches(struct packer *packer, const uint64_t *touches, unsigned count) {
    uint64_t block = touches[0] / TOUCH_BLOCK_BYTES, first = zigzag((int64_t)(block - packer->context.block));
    packer->context.block = touches[count - 1] / TOUCH_BLOCK_BYTES;
    if (count >= 1u << (8 - HEAD_COUNT_SHIFT)) put_varint(packer, count);
    bool alike = count > 1 && are_alike(touches, count);
    put_varint(packer, count > 1 ? first << 1 | alike : first);
    put_byte(packer, touch_sectors(touches[0]));
    for (unsigned i = 1; i < count; i++) {
        put_varint(packer, touches[i] / TOUCH_BLOCK_BYTES - touches[i - 1] / TOUCH_BLOCK_BYTES - 1);
        if (alike) break;
        put_byte(packer, touch_sectors(touches[i]));
    }
}

/* A record that needs no description. */
static inline void put_expected(struct packer *packer) {
    packer->context.id++;
    if (packer->run_at != PACK_NO_RUN && packer->bytes[packer->run_at] != RUN_FULL) {
        packer->bytes[packer->run_at] += RUN_STEP;
    } else {
        packer->run_at = packer->used;
        put_byte(packer, 0);
    }
}

static ALWAYS_INLINE void put_record(struct packer *packer, const struct instr *record, uint32_t active,
                                     uint32_t differ, unsigned count, const uint64_t *touches) {
    struct pack_context *context = &packer->context;
    int64_t jump = (int64_t)record->id - (int64_t)(uint32_t)(context->id + 1);
    uint32_t lanes = active ^ context->active;
    if (jump == 0 && lanes == 0 && differ == 0 && count == 0) {
        put_expected(packer);
        return;
    }
    context->id = record->id;
    packer->run_at = PACK_NO_RUN;
    assert(count <= STREAM_TOUCHES);
    put_byte(packer, (uint8_t)(HEAD_RECORD | (jump ? HEAD_JUMP : 0) | (lanes ? HEAD_LANES : 0) |
                               (differ ? HEAD_FIELDS : 0) | (count ? HEAD_TOUCHES : 0) |
                               (count < 1u << (8 - HEAD_COUNT_SHIFT) ? count << HEAD_COUNT_SHIFT : 0)));
    if (jump) put_varint(packer, zigzag(jump));
    if (lanes) {
        put_varint(packer, active == context->before ? 0 : lanes);
        context->before = context->active;
        context->active = active;
    }
    if (differ) put_fields(packer, (const uint8_t *)record, differ);
    if (count) put_touches(packer, touches, count);
}

void pack_put(struct packer *packer, const struct instr *base, const struct instr *record, const uint64_t *touches) {
    unsigned count = instr_is_memory(record) ? record->count : 0;
    put_record(packer, record, record->active, fields_that_differ(base, record), count, touches);
}

void pack_put_static(struct packer *packer, const struct instr *base, uint32_t active) {
    assert(!instr_is_memory(base));
    put_record(packer, base, active, 0, 0, NULL);
}

/* --- reading --- */

/* Reading beyond the end returns zero and sets `overrun`. */
static inline uint8_t get_byte(struct unpacker *from) {
    if (LIKELY(from->at < from->end)) return *from->at++;
    from->overrun = true;
    return 0;
}

static inline uint64_t get_varint(struct unpacker *from) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = get_byte(from);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

static inline int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1 ^ -(value & 1)); }

static enum pack_verdict get_touches(struct unpacker *from, unsigned count, struct instr *record, uint64_t *touches,
                                     unsigned room) {
    if (count == 0) {
        uint64_t many = get_varint(from);
        if (many == 0 || many > STREAM_TOUCHES) return PACK_BAD;
        count = (unsigned)many;
    }
    if (count > room) return PACK_FULL;
    uint64_t first = get_varint(from), block = from->context.block;
    bool alike = count > 1 && (first & 1);
    block += (uint64_t)unzigzag(count > 1 ? first >> 1 : first);
    uint8_t sectors = get_byte(from);
    touches[0] = touch_make(block * TOUCH_BLOCK_BYTES, sectors);
    uint64_t distance = alike ? get_varint(from) + 1 : 0;
    for (unsigned i = 1; i < count; i++) {
        block += alike ? distance : get_varint(from) + 1;
        if (!alike) sectors = get_byte(from);
        touches[i] = touch_make(block * TOUCH_BLOCK_BYTES, sectors);
    }
    from->context.block = block;
    record->count = (uint16_t)count;
    return PACK_TAKEN;
}

/* The active lanes of the next record. */
static uint32_t get_lanes(struct unpacker *from) {
    struct pack_context *context = &from->context;
    uint32_t change = (uint32_t)get_varint(from), active = context->active;
    context->active = change ? active ^ change : context->before;
    context->before = active;
    return context->active;
}

static enum pack_verdict get_record(struct unpacker *from, uint8_t head, const struct instr *records,
                                    uint32_t record_count, struct instr *record, uint64_t *touches, unsigned room) {
    uint32_t id = from->context.id + 1;
    if (head & HEAD_JUMP) id += (uint32_t)unzigzag(get_varint(from));
    if (id >= record_count) return PACK_BAD;
    from->context.id = id;
    *record = records[id];
    record->touches = 0;
    record->active = head & HEAD_LANES ? get_lanes(from) : from->context.active;
    if (head & HEAD_FIELDS) {
        uint64_t differ = get_varint(from);
        if (differ >> PACK_FIELDS) return PACK_BAD;
        for (; differ; differ &= differ - 1) ((uint8_t *)record)[FIELDS_AT + lowest_bit(differ)] = get_byte(from);
    }
    if (!(head & HEAD_TOUCHES)) {
        if (instr_is_memory(record)) record->count = 0;
        return PACK_TAKEN;
    }
    return instr_is_memory(record) ? get_touches(from, head >> HEAD_COUNT_SHIFT, record, touches, room) : PACK_BAD;
}

enum pack_verdict pack_get(struct unpacker *unpacker, const struct instr *records, uint32_t record_count,
                           struct instr *record, uint64_t *touches, unsigned room) {
    struct pack_context *context = &unpacker->context;
    if (context->run == 0) {
        if (unpacker->at == unpacker->end) return PACK_END;
        uint8_t head = *unpacker->at;
        if (head & HEAD_RECORD) {
            struct unpacker from = *unpacker;
            from.at++;
            enum pack_verdict verdict = get_record(&from, head, records, record_count, record, touches, room);
            if (verdict == PACK_TAKEN && from.overrun) return PACK_BAD;
            if (verdict == PACK_TAKEN) *unpacker = from;
            return verdict;
        }
        unpacker->at++;
        context->run = head / RUN_STEP + 1u;
    }
    if (++context->id >= record_count) return PACK_BAD;
    context->run--;
    *record = records[context->id];
    record->active = context->active;
    record->touches = 0;
    if (instr_is_memory(record)) record->count = 0;
    return PACK_TAKEN;
}

bool pack_take(struct unpacker *from, const struct instr *records, uint32_t record_count, struct warp_stream *warp) {
    unsigned touches = 0;
    while (warp->count < STREAM_CHUNK) {
        struct instr *record = &warp->instr[warp->count];
        enum pack_verdict verdict =
            pack_get(from, records, record_count, record, warp->touch + touches, STREAM_TOUCHES - touches);
        if (verdict != PACK_TAKEN) return verdict != PACK_BAD;
        warp->count++;
        if (!instr_is_memory(record)) continue;
        record->touches = touches;
        touches += record->count;
    }
    return true;
}
