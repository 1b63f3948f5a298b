#include "base/json_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { DEPTH_LIMIT = 64 };

struct reader {
    struct arena *arena;
    const char *file, *start, *at, *end;
    struct error *err;
    unsigned depth;
};

static bool fail(const struct reader *r, const char *at, const char *problem) {
    unsigned line = 1, column = 1;
    for (const char *c = r->start; c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    return error_at(r->err, r->file, line, column, "%s", problem);
}

static void skip_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool take(struct reader *r, char c) {
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool is_digit(const struct reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

static bool take_digits(struct reader *r) {
    if (!is_digit(r)) return fail(r, r->at, "a number needs a digit here");
    while (is_digit(r)) r->at++;
    return true;
}

static bool read_number(struct reader *r, struct json_value *value) {
    const char *begin = r->at;
    take(r, '-');
    if (!take(r, '0') && !take_digits(r)) return false;
    if (take(r, '.') && !take_digits(r)) return false;
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+')) take(r, '-');
        if (!take_digits(r)) return false;
    }
    value->kind = JSON_NUMBER;
    value->text = arena_text(r->arena, begin, (size_t)(r->at - begin));
    value->number = strtod(value->text, NULL);
    return true;
}

static bool read_word(struct reader *r, struct json_value *value) {
    static const struct {
        const char *text;
        enum json_kind kind;
        double number;
    } words[] = {{"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0}, {"null", JSON_NULL, 0}};
    for (unsigned i = 0; i < COUNT_OF(words); i++) {
        size_t length = strlen(words[i].text);
        if ((size_t)(r->end - r->at) < length || memcmp(r->at, words[i].text, length) != 0) continue;
        r->at += length;
        value->kind = words[i].kind;
        value->number = words[i].number;
        return true;
    }
    return fail(r, r->at, "expected a JSON value: an object, an array, a text, a number, true, false or null");
}

/* Four hexadecimal digits after \u. */
static bool read_unit(struct reader *r, uint32_t *unit) {
    *unit = 0;
    for (unsigned i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->end ? *r->at : '\0';
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) return fail(r, r->at, "\\u needs four hexadecimal digits");
        *unit = *unit << 4 | digit;
    }
    return true;
}

/* A code point after \u, of two units if it is beyond U+FFFF; a lone surrogate becomes U+FFFD. */
static bool read_point(struct reader *r, uint32_t *point) {
    if (!read_unit(r, point)) return false;
    if (*point < 0xD800 || *point > 0xDFFF) return true;
    uint32_t low = 0;
    bool pair = *point < 0xDC00 && r->end - r->at >= 2 && r->at[0] == '\\' && r->at[1] == 'u';
    const char *before = r->at;
    if (pair) {
        r->at += 2;
        if (!read_unit(r, &low)) return false;
        pair = low >= 0xDC00 && low <= 0xDFFF;
        if (!pair) r->at = before;
    }
    *point = pair ? 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
    return true;
}

static char *put_utf8(char *to, uint32_t point) {
    unsigned more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | point >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (point >> 6 * more & 0x3F));
    return to;
}

/* Decoded in place of a copy, which is never shorter: an escape takes at least as many bytes as its UTF-8. */
static const char *read_text(struct reader *r) {
    const char *begin = ++r->at, *close = begin;
    while (close < r->end && *close != '"') close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (close >= r->end) return fail(r, begin - 1, "this text has no closing quote"), NULL;
    char *text = arena_alloc(r->arena, (size_t)(close - begin) + 1, 1), *to = text;
    while (*r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return fail(r, r->at, "a control character in a text; write it as \\u00XX"), NULL;
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
        char name = *++r->at;
        const char *known = name ? strchr(names, name) : NULL;
        r->at++;
        uint32_t point;
        if (known)
            *to++ = means[known - names];
        else if (name != 'u')
            return fail(r, r->at - 2, "an unknown escape in a text"), NULL;
        else if (!read_point(r, &point))
            return NULL;
        else
            to = put_utf8(to, point);
    }
    r->at++;
    return text;
}

static bool read_value(struct reader *r, struct json_value *value);

/* The members of an object, or the elements of an array, up to the closing bracket. */
static bool read_inside(struct reader *r, struct json_value *value, char closing) {
    const struct json_value **link = &value->first;
    bool object = closing == '}';
    r->at++;
    if (++r->depth > DEPTH_LIMIT) return fail(r, r->at - 1, "more than 64 objects and arrays within each other");
    skip_blanks(r);
    if (take(r, closing)) return r->depth--, true;
    for (;;) {
        struct json_value *inner = arena_alloc(r->arena, 1, sizeof *inner);
        *link = inner;
        link = &inner->next;
        skip_blanks(r);
        if (object) {
            if (r->at == r->end || *r->at != '"') return fail(r, r->at, "expected the name of a member, a text");
            if (!(inner->key = read_text(r))) return false;
            skip_blanks(r);
            if (!take(r, ':')) return fail(r, r->at, "expected `:` after the name of a member");
            skip_blanks(r);
        }
        if (!read_value(r, inner)) return false;
        skip_blanks(r);
        if (take(r, closing)) return r->depth--, true;
        if (!take(r, ',')) return fail(r, r->at, object ? "expected `,` or `}`" : "expected `,` or `]`");
    }
}

static bool read_value(struct reader *r, struct json_value *value) {
    char c = r->at < r->end ? *r->at : '\0';
    if (c == '{' || c == '[') {
        value->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        return read_inside(r, value, c == '{' ? '}' : ']');
    }
    if (c == '"') {
        value->kind = JSON_TEXT;
        return (value->text = read_text(r));
    }
    if (c == '-' || (c >= '0' && c <= '9')) return read_number(r, value);
    return read_word(r, value);
}

const struct json_value *json_read(struct arena *arena, const char *file, const char *text, size_t bytes,
                                   struct error *err) {
    struct reader r = {.arena = arena, .file = file, .start = text, .at = text, .end = text + bytes, .err = err};
    struct json_value *value = arena_alloc(arena, 1, sizeof *value);
    skip_blanks(&r);
    if (!read_value(&r, value)) return NULL;
    skip_blanks(&r);
    if (r.at != r.end) return fail(&r, r.at, "expected the end of the file after the JSON value"), NULL;
    return value;
}

const struct json_value *json_member(const struct json_value *object, const char *key) {
    const struct json_value *member = object && object->kind == JSON_OBJECT ? object->first : NULL;
    while (member && strcmp(member->key, key) != 0) member = member->next;
    return member;
}
