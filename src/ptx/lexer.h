/* The PTX lexer: identifiers, dotted words, numbers, strings and punctuation, each with its position. Comments and
 * whitespace are skipped. Grammar: "Parallel Thread Execution ISA" 9.0, section 4 (Syntax). */
#ifndef SLUICE_PTX_LEXER_H
#define SLUICE_PTX_LEXER_H

#include "ptx/module.h"

/* The kind of a one-character token is the character. */
enum token_kind {
    TOKEN_END = 0,
    TOKEN_WORD = 256, /* mov, %r1, $L_1, _ */
    TOKEN_DOTTED,     /* .global, .L2::128B: text without the dot, position of the dot */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_STRING, /* text without the quotes */
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_BOTH,
    TOKEN_EITHER,
};

struct token {
    int kind;
    bool is_unsigned; /* INTEGER: with U suffix, or too large for int64_t */
    bool single;      /* FLOAT: written as 0f... */
    uint32_t length;
    const char *text;
    uint64_t value; /* INTEGER; FLOAT: bits of a double, or of a float if `single` */
    struct ptx_place place;
};

struct lexer {
    const struct ptx_module *module; /* the module being read */
    const char *at, *line_start;
    uint32_t line;
    bool after_value; /* the last token is a number or a closing parenthesis: % is an operator */
};

void lexer_start(struct lexer *lexer, const struct ptx_module *module);
bool lexer_next(struct lexer *lexer, struct token *token, struct error *err);
void lexer_skip_line(struct lexer *lexer);
/* Length of the identifier that starts at `text`. */
uint32_t lexer_word_length(const char *text);

#endif
