#include "ptx/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The text is followed by a NUL that is not part of it, so one character of lookahead is always valid. */
static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_' || c == '$'; }
static bool is_follower(char c) { return is_letter(c) || isdigit((unsigned char)c); }

uint32_t lexer_word_length(const char *text) {
    uint32_t length = 1;
    while (is_follower(text[length])) length++;
    return length;
}

void lexer_start(struct lexer *lexer, const struct ptx_module *module) {
    *lexer = (struct lexer){.module = module, .at = module->text, .line_start = module->text, .line = 1};
}

static struct ptx_place here(const struct lexer *lexer) {
    return (struct ptx_place){.line = lexer->line,
                              .column = (uint32_t)(lexer->at - lexer->line_start) + 1,
                              .offset = (uint32_t)(lexer->at - lexer->module->text)};
}

void lexer_skip_line(struct lexer *lexer) {
    const char *end = lexer->module->text + lexer->module->text_bytes;
    while (lexer->at < end && *lexer->at != '\n') lexer->at++;
}

/* Skips one character of whitespace or comment. */
static void step(struct lexer *lexer) {
    if (*lexer->at++ != '\n') return;
    lexer->line++;
    lexer->line_start = lexer->at;
}

static bool skip_blanks(struct lexer *lexer, struct error *err) {
    const char *end = lexer->module->text + lexer->module->text_bytes;
    while (lexer->at < end) {
        if (isspace((unsigned char)*lexer->at)) {
            step(lexer);
        } else if (lexer->at[0] == '/' && lexer->at[1] == '/') {
            lexer_skip_line(lexer);
        } else if (lexer->at[0] == '/' && lexer->at[1] == '*') {
            struct ptx_place start = here(lexer);
            for (lexer->at += 2; !(lexer->at[0] == '*' && lexer->at[1] == '/'); step(lexer))
                if (lexer->at >= end)
                    return ptx_error(lexer->module, start, err, "unterminated comment; expected '*/'");
            lexer->at += 2;
        } else {
            break;
        }
    }
    return true;
}

static unsigned digit_value(char c) {
    if (isdigit((unsigned char)c)) return (unsigned)(c - '0');
    return isalpha((unsigned char)c) ? (unsigned)(tolower((unsigned char)c) - 'a') + 10 : 99;
}

/* Scans digits of a base from `at`; returns their number. */
static unsigned digits(const char *at, unsigned base, uint64_t *value, bool *too_large) {
    unsigned count = 0;
    *value = 0;
    for (; digit_value(at[count]) < base; count++)
        *too_large |= __builtin_mul_overflow(*value, base, value) ||
                      __builtin_add_overflow(*value, (uint64_t)digit_value(at[count]), value);
    return count;
}

/* Decimal with a point or an exponent. Digits are checked here because strtod accepts more. */
static const char *decimal_float(const char *at, struct token *token) {
    at += strspn(at, "0123456789");
    if (*at == '.') at += 1 + strspn(at + 1, "0123456789");
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        size_t count = strspn(exponent, "0123456789");
        if (count > 0) at = exponent + count;
    }
    double value = strtod(token->text, NULL);
    memcpy(&token->value, &value, sizeof value);
    token->kind = TOKEN_FLOAT;
    return at;
}

static bool number(struct lexer *lexer, struct token *token, struct error *err) {
    const char *at = lexer->at;
    char form = at[0] == '0' ? (char)tolower((unsigned char)at[1]) : '\0';
    unsigned base = form == 'x' ? 16 : form == 'b' ? 2 : form == 'f' || form == 'd' ? 16 : 10;
    bool too_large = false;
    token->kind = TOKEN_INTEGER;
    if (form == 'f' || form == 'd') {
        unsigned wanted = form == 'f' ? 8 : 16, count = digits(at + 2, base, &token->value, &too_large);
        if (count != wanted)
            return ptx_error(lexer->module, token->place, err,
                             "a number that starts with 0%c must have %u hexadecimal digits; found %u", at[1], wanted,
                             count);
        token->kind = TOKEN_FLOAT;
        token->single = form == 'f';
        at += 2 + count;
    } else if (base != 10) {
        unsigned count = digits(at + 2, base, &token->value, &too_large);
        if (count == 0)
            return ptx_error(lexer->module, token->place, err, "expected %s digits after '%.2s'",
                             base == 16 ? "hexadecimal" : "binary", at);
        at += 2 + count;
    } else {
        unsigned count = (unsigned)strspn(at, "0123456789");
        bool exponent = (at[count] == 'e' || at[count] == 'E') &&
                        (isdigit((unsigned char)at[count + 1]) || at[count + 1] == '-' || at[count + 1] == '+');
        if (at[count] == '.' || exponent) {
            at = decimal_float(at, token);
        } else {
            bool octal = at[0] == '0' && count > 1;
            if (digits(at, octal ? 8 : 10, &token->value, &too_large) != count)
                return ptx_error(lexer->module, token->place, err,
                                 "digit 8 or 9 in an octal number (a leading 0 means octal)");
            at += count;
        }
    }
    if (too_large) return ptx_error(lexer->module, token->place, err, "the number does not fit in 64 bits");
    if (token->kind == TOKEN_INTEGER) {
        token->is_unsigned = *at == 'U' || token->value > INT64_MAX;
        at += *at == 'U';
    }
    if (is_follower(*at)) {
        lexer->at = at;
        return ptx_error(lexer->module, here(lexer), err, "found '%c' in a number", *at);
    }
    token->length = (uint32_t)(at - token->text);
    return true;
}

static bool string(struct lexer *lexer, struct token *token, struct error *err) {
    size_t length = strcspn(lexer->at + 1, "\"\n");
    if (lexer->at[1 + length] != '"')
        return ptx_error(lexer->module, token->place, err, "unterminated string; expected '\"'");
    *token =
        (struct token){.kind = TOKEN_STRING, .text = lexer->at + 1, .length = (uint32_t)length, .place = token->place};
    lexer->at += length + 2;
    return true;
}

/* The rest of a dotted word: letters and digits, also after a double colon. */
static void dotted(const char *at, struct token *token) {
    const char *end = at;
    while (is_follower(*end) || (end[0] == ':' && end[1] == ':' && is_follower(end[2]))) end += *end == ':' ? 3 : 1;
    token->kind = TOKEN_DOTTED;
    token->text = at;
    token->length = (uint32_t)(end - at);
}

static bool mark(struct lexer *lexer, struct token *token, struct error *err) {
    static const struct {
        char text[3];
        int kind;
    } doubles[] = {{"<<", TOKEN_SHIFT_LEFT},    {">>", TOKEN_SHIFT_RIGHT}, {"<=", TOKEN_LESS_EQUAL},
                   {">=", TOKEN_GREATER_EQUAL}, {"==", TOKEN_EQUAL},       {"!=", TOKEN_UNEQUAL},
                   {"&&", TOKEN_BOTH},          {"||", TOKEN_EITHER}};
    for (unsigned i = 0; i < COUNT_OF(doubles); i++) {
        if (strncmp(lexer->at, doubles[i].text, 2) != 0) continue;
        token->kind = doubles[i].kind;
        token->length = 2;
        return true;
    }
    char c = *lexer->at;
    if (c == '\0' || !strchr("{}[]()<>,;:@!|&^~+-*/%=?", c))
        return ptx_error(lexer->module, token->place, err,
                         isprint((unsigned char)c) ? "'%c' is not valid in PTX" : "byte 0x%02x is not valid in PTX",
                         (unsigned char)c);
    token->kind = c;
    token->length = 1;
    return true;
}

bool lexer_next(struct lexer *lexer, struct token *token, struct error *err) {
    if (!skip_blanks(lexer, err)) return false;
    const char *at = lexer->at, *start = lexer->module->text;
    *token = (struct token){.text = at, .place = here(lexer)};
    if (at == start + lexer->module->text_bytes) return true;
    bool after_word = at > start && is_follower(at[-1]); /* tex.2d: a modifier may start with a digit here */
    bool value = lexer->after_value;
    lexer->after_value = *at == ')';
    if (is_letter(*at) || (*at == '%' && (is_letter(at[1]) || (isdigit((unsigned char)at[1]) && !value)))) {
        token->kind = TOKEN_WORD;
        token->length = lexer_word_length(at);
        lexer->after_value = token->length == 7 && memcmp(at, "WARP_SZ", 7) == 0;
    } else if (*at == '.' && (is_letter(at[1]) || (after_word && isdigit((unsigned char)at[1])))) {
        dotted(at + 1, token);
    } else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        if (!number(lexer, token, err)) return false;
        lexer->after_value = true;
    } else if (*at == '"') {
        return string(lexer, token, err);
    } else if (!mark(lexer, token, err)) {
        return false;
    }
    lexer->at = token->text + token->length;
    return true;
}
