/* Device-side printf: the format is parsed here, each conversion is done by the host's snprintf. An unknown conversion,
 * including %n, is printed unchanged, as CUDA does. */
#include "emu/print.h"

#include <stdio.h>
#include <string.h>

enum { SPEC_BYTES = 48, WIDTH_MAX = 4096 };

struct printer {
    print_reader *read;
    void *user;
    uint64_t format, arguments, offset;
    char *text;
    size_t used;
    int count;
    uint64_t *bad;
    bool failed;
};

static void fetch(struct printer *p, uint64_t address, void *data, unsigned bytes) {
    memset(data, 0, bytes);
    if (p->failed || p->read(p->user, address, data, bytes)) return;
    p->failed = true;
    *p->bad = address;
}

static char next(struct printer *p) {
    char c;
    fetch(p, p->format, &c, 1);
    if (c) p->format++;
    return c;
}

static uint64_t argument(struct printer *p, unsigned bytes) {
    uint64_t value = 0;
    p->offset = div_up(p->offset, bytes) * bytes;
    fetch(p, p->arguments + p->offset, &value, bytes);
    p->offset += bytes;
    p->count++;
    return value;
}

static size_t room(const struct printer *p) { return PRINT_TEXT_BYTES - p->used; }

static void put(struct printer *p, const char *text, size_t length) {
    length = min_u64(length, room(p) - 1);
    memcpy(p->text + p->used, text, length);
    p->used += length;
    p->text[p->used] = 0;
}

static void put_string(struct printer *p, const char *spec) {
    uint64_t address = argument(p, 8);
    char text[PRINT_TEXT_BYTES];
    size_t length = 0;
    if (!address) {
        strcpy(text, "(null)");
    } else {
        do fetch(p, address + length, &text[length], 1);
        while (text[length] && ++length < sizeof text - 1);
        text[length] = 0;
    }
    p->used += min_u64((size_t)snprintf(p->text + p->used, room(p), spec, text), room(p) - 1);
}

/* Copies flags, width and precision to `spec`, with the values of `*` inserted. */
static char options(struct printer *p, char *spec, unsigned *used) {
    for (;;) {
        char c = next(p);
        if (c == '*') {
            int value = (int)(uint32_t)argument(p, 4);
            value = value > WIDTH_MAX ? WIDTH_MAX : value < -WIDTH_MAX ? -WIDTH_MAX : value;
            *used += (unsigned)snprintf(spec + *used, SPEC_BYTES - *used, "%d", value);
        } else if (c && strchr("-+ #0123456789.", c)) {
            spec[(*used)++] = c;
        } else {
            return c;
        }
        if (*used > SPEC_BYTES - 16) return 0; /* too long to be a format */
    }
}

static char length_skip(struct printer *p, char c, bool *wide) {
    for (; c && strchr("hlLjzt", c); c = next(p)) *wide |= c != 'h';
    return c;
}

/* Limits widths of many digits. */
static bool too_wide(const char *spec) {
    unsigned digits = 0;
    for (; *spec; spec++) {
        digits = *spec >= '0' && *spec <= '9' ? digits + 1 : 0;
        if (digits > 4) return true;
    }
    return false;
}

static void conversion(struct printer *p) {
    uint64_t from = p->format;
    char spec[SPEC_BYTES + 8] = "%";
    unsigned used = 1;
    bool wide = false;
    char c = length_skip(p, options(p, spec, &used), &wide);
    spec[used] = 0;
    size_t left = room(p);
    int wrote = 0;
    if (too_wide(spec)) c = 0;
    if (c && strchr("di", c)) {
        uint64_t value = argument(p, wide ? 8 : 4);
        strcat(spec, "lld");
        wrote = snprintf(p->text + p->used, left, spec, wide ? (long long)value : (long long)(int32_t)value);
    } else if (c && strchr("uxXo", c)) {
        char kind[] = {'l', 'l', c, 0};
        wrote = snprintf(p->text + p->used, left, strcat(spec, kind), (unsigned long long)argument(p, wide ? 8 : 4));
    } else if (c && strchr("fFeEgGaA", c)) {
        char kind[] = {c, 0};
        uint64_t bits = argument(p, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        wrote = snprintf(p->text + p->used, left, strcat(spec, kind), value);
    } else if (c == 'c') {
        wrote = snprintf(p->text + p->used, left, strcat(spec, "c"), (int)argument(p, 4));
    } else if (c == 'p') {
        wrote = snprintf(p->text + p->used, left, strcat(spec, "p"), (void *)(uintptr_t)argument(p, 8));
    } else if (c == 's') {
        put_string(p, strcat(spec, "s"));
    } else if (c == '%') {
        put(p, "%", 1);
    } else {
        put(p, "%", 1);
        p->format = from;
    }
    if (wrote > 0) p->used += min_u64((size_t)wrote, left - 1);
}

int print_format(print_reader *read, void *user, uint64_t format, uint64_t arguments, char text[PRINT_TEXT_BYTES],
                 uint64_t *bad) {
    struct printer p = {.read = read, .user = user, .format = format, .arguments = arguments, .text = text, .bad = bad};
    text[0] = 0;
    for (char c; !p.failed && p.used + 1 < PRINT_TEXT_BYTES && (c = next(&p));)
        c == '%' ? conversion(&p) : put(&p, &c, 1);
    return p.failed ? -1 : p.count;
}
