/* Tokens of PTX. */
#include "ptx/lexer.h"

#include <string.h>

#include "test.h"

/* Reads the text token by token; stops at the end or at the first error. */
struct reading {
    struct ptx_module module;
    struct lexer lexer;
    struct token token;
    struct error err;
};

static void start(struct reading *reading, const char *text) {
    *reading = (struct reading){.module = {.file = "a.ptx", .text = text, .text_bytes = strlen(text)}};
    lexer_start(&reading->lexer, &reading->module);
}

static bool next(struct reading *reading) { return lexer_next(&reading->lexer, &reading->token, &reading->err); }

static bool is(const struct token *token, int kind, const char *text) {
    return token->kind == kind && token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

TEST("an instruction is split into words, modifiers, numbers and punctuation, each with its position") {
    static const struct {
        int kind;
        const char *text;
        unsigned line, column;
    } expected[] = {
        {'@', "@", 1, 1},
        {'!', "!", 1, 2},
        {TOKEN_WORD, "%p1", 1, 3},
        {TOKEN_WORD, "ld", 1, 7},
        {TOKEN_DOTTED, "global", 1, 9},
        {TOKEN_DOTTED, "L2::128B", 1, 16},
        {TOKEN_DOTTED, "v2", 1, 25},
        {'{', "{", 2, 2},
        {TOKEN_WORD, "$L_a", 2, 3},
        {',', ",", 2, 7},
        {TOKEN_WORD, "_", 2, 9},
        {'}', "}", 2, 10},
        {TOKEN_SHIFT_LEFT, "<<", 2, 11},
        {TOKEN_STRING, "a b", 2, 14},
        {TOKEN_WORD, "tex", 3, 1},
        {TOKEN_DOTTED, "2d", 3, 4},
        {TOKEN_WORD, "x", 3, 11},
        {TOKEN_END, "", 3, 12},
    };
    struct reading reading;
    start(&reading, "@!%p1 ld.global.L2::128B.v2\n\t{$L_a, _}<< \"a b\" // no { more\ntex.2d/**/x");
    for (unsigned i = 0; i < COUNT_OF(expected); i++) {
        REQUIRE(next(&reading));
        CHECK(is(&reading.token, expected[i].kind, expected[i].text));
        CHECK_EQ(reading.token.place.line, expected[i].line);
        CHECK_EQ(reading.token.place.column, expected[i].column);
    }
}

TEST("integers are decimal, hexadecimal, octal or binary, and unsigned with U or if too large") {
    static const struct {
        const char *text;
        uint64_t value;
        bool is_unsigned;
    } cases[] = {
        {"0", 0, false},
        {"42", 42, false},
        {"42U", 42, true},
        {"0x1F", 31, false},
        {"0XfFU", 255, true},
        {"017", 15, false},
        {"0b101", 5, false},
        {"0B11U", 3, true},
        {"9223372036854775807", INT64_MAX, false},
        {"9223372036854775808", UINT64_C(1) << 63, true},
        {"0xFFFFFFFFFFFFFFFF", UINT64_MAX, true},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct reading reading;
        start(&reading, cases[i].text);
        REQUIRE(next(&reading));
        CHECK_EQ(reading.token.kind, TOKEN_INTEGER);
        CHECK_EQ(reading.token.value, cases[i].value);
        CHECK_EQ(reading.token.is_unsigned, cases[i].is_unsigned);
        REQUIRE(next(&reading));
        CHECK_EQ(reading.token.kind, TOKEN_END);
    }
}

TEST("floats are given by their bits or in decimal") {
    static const struct {
        const char *text;
        uint64_t bits;
        bool single;
    } cases[] = {
        {"0f3F800000", 0x3F800000, true},
        {"0F7fc00000", 0x7FC00000, true},
        {"0d3FF0000000000000", UINT64_C(0x3FF0000000000000), false},
        {"0DFFF0000000000000", UINT64_C(0xFFF0000000000000), false},
        {"1.5", UINT64_C(0x3FF8000000000000), false},
        {"1.5e3", UINT64_C(0x4097700000000000), false},
        {"15e-1", UINT64_C(0x3FF8000000000000), false},
        {"2.", UINT64_C(0x4000000000000000), false},
        {".5", UINT64_C(0x3FE0000000000000), false},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct reading reading;
        start(&reading, cases[i].text);
        REQUIRE(next(&reading));
        CHECK_EQ(reading.token.kind, TOKEN_FLOAT);
        CHECK_EQ(reading.token.value, cases[i].bits);
        CHECK_EQ(reading.token.single, cases[i].single);
        REQUIRE(next(&reading));
        CHECK_EQ(reading.token.kind, TOKEN_END);
    }
}

TEST("invalid text is reported with its position") {
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"  `", "a.ptx:1:3: '`' is not valid in PTX\n  `\n  ^"},
        {"\x01", "a.ptx:1:1: byte 0x01 is not valid in PTX\n?\n^"},
        {"/* x\n\n", "a.ptx:1:1: unterminated comment; expected '*/'"},
        {"\"abc\n\"", "a.ptx:1:1: unterminated string; expected '\"'"},
        {"0f12", "a.ptx:1:1: a number that starts with 0f must have 8 hexadecimal digits; found 2"},
        {"0d3FF00000000000000", "must have 16 hexadecimal digits; found 17"},
        {"0x", "expected hexadecimal digits after '0x'"},
        {"0b2", "expected binary digits after '0b'"},
        {"089", "digit 8 or 9 in an octal number (a leading 0 means octal)"},
        {"18446744073709551616", "does not fit in 64 bits"},
        {"12ab", "a.ptx:1:3: found 'a' in a number"},
        {". ", "'.' is not valid in PTX"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct reading reading;
        start(&reading, cases[i].text);
        CHECK(!next(&reading));
        CHECK_TEXT(reading.err.text, cases[i].error);
    }
}
