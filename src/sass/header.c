#include "sass/header.h"

#include <stdio.h>
#include <string.h>

enum key {
    KEY_name,
    KEY_grid,
    KEY_block,
    KEY_shared,
    KEY_registers,
    KEY_binary,
    KEY_tracer,
    KEY_stream,
    KEY_shared_base,
    KEY_local_base,
    KEY_line_info,
    KEY_COUNT,
};

static const struct {
    const char *text;
    bool required;
    uint64_t least, most;
    const char *fix; /* what to do about a value beyond them */
} keys[KEY_COUNT] = {
    [KEY_name] = {"kernel name", true, 0, 0, NULL},
    [KEY_grid] = {"grid dim", true, 1, INT32_MAX, "expected at most 2147483647 CTAs"},
    [KEY_block] = {"block dim", true, 1, 1024, "expected at most 1024 threads"},
    [KEY_shared] = {"shmem", true, 0, 1 << 20, "a CTA has at most 1 MB; write the kernel's shared memory in bytes"},
    [KEY_registers] = {"nregs", true, 1, 255,
                       "a thread has 1 to 255 registers; write the number that `cuobjdump -res-usage` prints"},
    [KEY_binary] =
        {"binary version", true, 60, 90,
         "expected 60 (Pascal) to 90 (Hopper); write the compute capability of the GPU times ten, 70 for Volta"},
    [KEY_tracer] = {"accelsim tracer version", true, SASS_OLDEST, SASS_NEWEST,
                    "versions 3 to 5 are read; trace the program again with a newer tracer"},
    [KEY_stream] = {"cuda stream id", false, 0, UINT64_MAX, NULL},
    [KEY_shared_base] = {"shmem base_addr", false, 0, UINT64_MAX, NULL},
    [KEY_local_base] = {"local mem base_addr", false, 0, UINT64_MAX, NULL},
    [KEY_line_info] = {"enable lineinfo", false, 0, 1, "expected 0 or 1"},
};

struct place {
    const char *path;
    unsigned line, column;
    struct error *err;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static struct sass_text trimmed(struct sass_text text) {
    while (text.at < text.end && is_blank(*text.at)) text.at++;
    while (text.end > text.at && is_blank(text.end[-1])) text.end--;
    return text;
}

/* The digits at text->at in base 10, or in base 16 after 0x. False if there are none, or too many. */
static bool take_number(struct sass_text *text, uint64_t *value) {
    unsigned base = 10;
    if (text->end - text->at > 2 && text->at[0] == '0' && text->at[1] == 'x') base = 16, text->at += 2;
    const char *first = text->at;
    *value = 0;
    for (; text->at < text->end; text->at++) {
        char c = *text->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : base;
        if (digit >= base) break;
        if (*value > (UINT64_MAX - digit) / base) return false;
        *value = *value * base + digit;
    }
    return text->at > first;
}

static bool reject(const struct place *place, enum key key, struct sass_text value, const char *expected) {
    return error_at(place->err, place->path, place->line, place->column, "%s = %.*s: %s", keys[key].text,
                    (int)min_u64((uint64_t)(value.end - value.at), 60), value.at, expected);
}

static bool read_number(const struct place *place, enum key key, struct sass_text value, uint64_t *number) {
    struct sass_text rest = value;
    if (!take_number(&rest, number) || rest.at != rest.end) return reject(place, key, value, "expected a number");
    return (*number >= keys[key].least && *number <= keys[key].most) || reject(place, key, value, keys[key].fix);
}

/* (x,y,z) */
static bool read_size(const struct place *place, enum key key, struct sass_text value, uint32_t size[3]) {
    struct sass_text rest = value;
    uint64_t number, product = 1;
    for (unsigned d = 0; d < 3; d++) {
        bool good = rest.at < rest.end && *rest.at++ == "(,,"[d] && take_number(&rest, &number);
        if (!good || number < 1) return reject(place, key, value, "expected (x,y,z), each at least 1");
        if (number > keys[key].most || (product *= number) > keys[key].most)
            return reject(place, key, value, keys[key].fix);
        size[d] = (uint32_t)number;
    }
    return (rest.at + 1 == rest.end && *rest.at == ')') || reject(place, key, value, "expected (x,y,z)");
}

static bool read_value(struct sass_header *h, const struct place *place, enum key key, struct sass_text value) {
    uint64_t number = 0;
    if (key == KEY_name) {
        if (value.at == value.end) return reject(place, key, value, "the name is empty");
        snprintf(h->kernel.name, sizeof h->kernel.name, "%.*s",
                 (int)min_u64((uint64_t)(value.end - value.at), sizeof h->kernel.name - 1), value.at);
        return true;
    }
    if (key == KEY_grid) return read_size(place, key, value, h->kernel.grid);
    if (key == KEY_block) return read_size(place, key, value, h->kernel.block);
    if (!read_number(place, key, value, &number)) return false;
    switch (key) {
    case KEY_shared: h->kernel.shared_bytes = (uint32_t)number; break;
    case KEY_registers: h->kernel.registers = (uint32_t)number; break;
    case KEY_binary: h->binary_version = (unsigned)number; break;
    case KEY_tracer: h->version = (unsigned)number; break;
    case KEY_stream: h->stream = number; break;
    case KEY_shared_base: h->shared_base = number; break;
    case KEY_local_base: h->local_base = number; break;
    default: h->line_info = number != 0; break;
    }
    return true;
}

bool sass_header_line(struct sass_header *header, struct sass_text line, const char *path, unsigned number,
                      struct error *err) {
    const char *begin = line.at, *equals = memchr(line.at, '=', (size_t)(line.end - line.at));
    if (!equals || *line.at != '-')
        return error_at(err, path, number, 1, "expected a header line `-key = value` or #BEGIN_TB");
    struct sass_text key = trimmed((struct sass_text){line.at + 1, equals});
    struct sass_text value = trimmed((struct sass_text){equals + 1, line.end});
    struct place place = {path, number, (unsigned)(value.at - begin) + 1, err};
    for (unsigned k = 0; k < KEY_COUNT; k++) {
        size_t length = strlen(keys[k].text);
        if ((size_t)(key.end - key.at) != length || memcmp(key.at, keys[k].text, length) != 0) continue;
        header->given |= UINT32_C(1) << k;
        return read_value(header, &place, (enum key)k, value);
    }
    return true;
}

bool sass_header_end(const struct sass_header *header, const char *path, unsigned number, struct error *err) {
    for (unsigned k = 0; k < KEY_COUNT; k++) {
        if (!keys[k].required || header->given >> k & 1) continue;
        return error_at(err, path, number, 1, "the header ends here without `-%s = `%s", keys[k].text,
                        k == KEY_tracer ? "; traces of tracer version 2 and older are not read" : "");
    }
    return true;
}
