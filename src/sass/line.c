#include "sass/line.h"

#include <stdio.h>

#include "stream/touch.h"

struct cursor {
    const char *begin, *at, *end;
    struct sass_problem *problem;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void skip_blanks(struct cursor *c) {
    while (c->at < c->end && is_blank(*c->at)) c->at++;
}

/* What stands at the cursor is not what is expected there. */
static NEVER_INLINE bool reject(struct cursor *c, const char *expected) {
    const char *end = c->at;
    while (end < c->end && !is_blank(*end) && end - c->at < 40) end++;
    c->problem->column = (unsigned)(c->at - c->begin) + 1;
    if (end == c->at)
        snprintf(c->problem->text, sizeof c->problem->text, "the line ends here; expected %s", expected);
    else
        snprintf(c->problem->text, sizeof c->problem->text, "`%.*s`: expected %s", (int)(end - c->at), c->at, expected);
    return false;
}

/* The end of a word. */
static bool word_ends(const struct cursor *c) { return c->at == c->end || is_blank(*c->at); }

static ALWAYS_INLINE unsigned hex_digit(char c) {
    unsigned decimal = (unsigned)(uint8_t)c - '0', letter = ((unsigned)(uint8_t)c | 0x20) - 'a';
    return decimal < 10 ? decimal : letter < 6 ? letter + 10 : 16;
}

/* A hexadecimal number below 2^bits, with or without 0x. */
static ALWAYS_INLINE bool take_hex(struct cursor *c, unsigned bits, uint64_t *value, const char *what) {
    skip_blanks(c);
    struct cursor from = *c;
    if (c->end - c->at > 2 && c->at[0] == '0' && (c->at[1] | 0x20) == 'x') c->at += 2;
    const char *first = c->at;
    uint64_t number = 0;
    bool fits = true;
    for (unsigned digit; c->at < c->end && (digit = hex_digit(*c->at)) < 16; c->at++) {
        fits &= number >> 60 == 0;
        number = number << 4 | digit;
    }
    if (UNLIKELY(c->at == first || !word_ends(c) || !fits || (bits < 64 && number >> bits)))
        return *c = from, reject(c, what);
    *value = number;
    return true;
}

/* A decimal number up to `most`. */
static ALWAYS_INLINE bool take_count(struct cursor *c, uint64_t most, uint64_t *value, const char *what) {
    skip_blanks(c);
    struct cursor from = *c;
    uint64_t number = 0;
    for (unsigned digit; c->at < c->end && (digit = (unsigned)(uint8_t)*c->at - '0') < 10 && number <= most; c->at++)
        number = number * 10 + digit;
    if (UNLIKELY(c->at == from.at || !word_ends(c) || number > most)) return *c = from, reject(c, what);
    *value = number;
    return true;
}

/* A decimal number with an optional sign, of at most 60 bits. */
static ALWAYS_INLINE bool take_signed(struct cursor *c, int64_t *value, const char *what) {
    skip_blanks(c);
    struct cursor from = *c;
    bool negative = c->at < c->end && *c->at == '-';
    c->at += negative;
    const char *first = c->at;
    int64_t number = 0;
    for (unsigned digit; c->at < c->end && (digit = (unsigned)(uint8_t)*c->at - '0') < 10 && number >> 56 == 0; c->at++)
        number = number * 10 + digit;
    if (UNLIKELY(c->at == first || !word_ends(c))) return *c = from, reject(c, what);
    *value = negative ? -number : number;
    return true;
}

static bool take_register(struct cursor *c, uint8_t *reg) {
    skip_blanks(c);
    struct cursor from = *c;
    bool uniform = c->at < c->end && *c->at == 'U';
    c->at += uniform;
    if (UNLIKELY(c->at == c->end || *c->at != 'R')) return *c = from, reject(c, "a register, R0 to R255");
    c->at++;
    const char *digits = c->at;
    unsigned number = 0;
    for (unsigned digit; c->at < c->end && (digit = (unsigned)(uint8_t)*c->at - '0') < 10 && number < 256; c->at++)
        number = number * 10 + digit;
    if (UNLIKELY(c->at == digits || !word_ends(c) || number > SASS_NO_REGISTER))
        return *c = from, reject(c, "a register, R0 to R255");
    *reg = uniform ? SASS_NO_REGISTER : (uint8_t)number;
    return true;
}

static bool take_registers(struct cursor *c, uint8_t *count, uint8_t list[SASS_REGISTERS], const char *what) {
    uint64_t number = 0;
    if (!take_count(c, SASS_REGISTERS, &number, what)) return false;
    for (unsigned i = 0; i < number; i++)
        if (!take_register(c, &list[i])) return false;
    *count = (uint8_t)number;
    return true;
}

static bool take_opcode(struct cursor *c, struct sass_text *opcode) {
    skip_blanks(c);
    opcode->at = c->at;
    if (UNLIKELY(c->at == c->end || *c->at < 'A' || *c->at > 'Z')) return reject(c, "an opcode");
    while (!word_ends(c)) c->at++;
    opcode->end = c->at;
    return true;
}

static bool take_address(struct cursor *c, uint64_t *address) {
    return take_hex(c, SASS_ADDRESS_BITS, address, "an address of an active lane, 0x... of at most 57 bits");
}

/* Addresses of the active lanes, by mode. */
static bool take_addresses(struct cursor *c, struct sass_line *line) {
    enum { MODE_LIST, MODE_STRIDE, MODE_DIFFERENCES };
    uint64_t mode = 0, address = 0, mask = line->mask;
    int64_t step = 0;
    if (!take_count(c, MODE_DIFFERENCES, &mode, "an address mode, 0 to 2")) return false;
    if (mode != MODE_LIST && !take_address(c, &address)) return false;
    if (mode == MODE_STRIDE && !take_signed(c, &step, "the distance between the addresses of active lanes"))
        return false;
    for (bool first = true; mask; mask &= mask - 1, first = false) {
        if (mode == MODE_LIST) {
            if (!take_address(c, &address)) return false;
        } else if (!first) {
            if (mode == MODE_DIFFERENCES && !take_signed(c, &step, "the difference to the address of the next lane"))
                return false;
            address += (uint64_t)step;
            if (address >> SASS_ADDRESS_BITS)
                return reject(c, "addresses of at most 57 bits; a difference leads beyond");
        }
        line->address[lowest_bit(mask)] = address;
    }
    return true;
}

static void skip_word(struct cursor *c) {
    skip_blanks(c);
    while (!word_ends(c)) c->at++;
}

bool sass_line_opcode(struct sass_text text, bool line_info, struct sass_text *opcode) {
    struct cursor c = {text.at, text.at, text.end, NULL};
    unsigned registers = 0, digit;
    for (unsigned i = 0; i < (line_info ? 3u : 2u); i++) skip_word(&c); /* line number, PC, mask */
    skip_blanks(&c);
    for (; c.at < c.end && (digit = (unsigned)(uint8_t)*c.at - '0') < 10 && registers <= SASS_REGISTERS; c.at++)
        registers = registers * 10 + digit;
    if (!word_ends(&c) || registers > SASS_REGISTERS) return false;
    for (; registers; registers--) skip_word(&c);
    skip_blanks(&c);
    opcode->at = c.at;
    skip_word(&c);
    opcode->end = c.at;
    return opcode->at < opcode->end && *opcode->at >= 'A' && *opcode->at <= 'Z';
}

bool sass_line_read(struct sass_text text, unsigned version, bool line_info, struct sass_line *line,
                    struct sass_problem *problem) {
    enum { MOST_WIDTH = 1024 };
    struct cursor c = {text.at, text.at, text.end, problem};
    uint64_t number = 0;
    line->immediate = 0;
    if (line_info && !take_count(&c, UINT32_MAX, &number, "the line number of the source")) return false;
    if (!take_hex(&c, 64, &line->pc, "the PC, a hexadecimal number")) return false;
    if (!take_hex(&c, 32, &number, "the mask of active lanes, 8 hexadecimal digits")) return false;
    line->mask = (uint32_t)number;
    if (!take_registers(&c, &line->dst_count, line->dst, "the number of destination registers, 0 to 16")) return false;
    if (!take_opcode(&c, &line->opcode)) return false;
    if (!take_registers(&c, &line->src_count, line->src, "the number of source registers, 0 to 16")) return false;
    if (!take_count(&c, MOST_WIDTH, &number, "the width of the memory access in bytes, 0 if there is none"))
        return false;
    line->has_addresses = number != 0;
    if (line->has_addresses) {
        if (!take_addresses(&c, line)) return false;
        if (line->mask) lanes_fill(line->mask, line->address);
    }
    skip_blanks(&c);
    if (version >= 5 && c.at == c.end && line->has_addresses)
        return reject(&c, "the immediate; it or an address, a distance or a difference is missing");
    if (version >= 5 && c.at < c.end) {
        int64_t immediate = 0;
        bool hex = c.end - c.at > 2 && c.at[1] == 'x';
        if (hex ? !take_hex(&c, 64, &line->immediate, "an immediate") : !take_signed(&c, &immediate, "an immediate"))
            return false;
        line->immediate |= (uint64_t)immediate;
        skip_blanks(&c);
    }
    return c.at == c.end || reject(&c, "the end of the line");
}
