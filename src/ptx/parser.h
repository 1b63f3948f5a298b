/* Internals of the parser. A module is read in one pass, token by token, with one symbol table: a scope is a mark in
 * it, and leaving the scope removes the symbols above the mark. Only labels may be used before their definition; they
 * are resolved when their scope closes.
 *
 *   parser.c             modules, functions, directives
 *   parser_body.c        statements: labels, guards, instructions, operands, nested scopes
 *   parser_variable.c    registers, variables, parameters and their initialisers
 *   parser_expression.c  constant expressions
 *   parser_names.c       symbol tables, lists, keywords
 *
 * Every function that can fail returns false after setting the error. Recursion is bounded by the limits below, and
 * memory by the length of the text. */
#ifndef SLUICE_PTX_PARSER_H
#define SLUICE_PTX_PARSER_H

#include "base/arena.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

/* clang-format off */
#define DIRECTIVE_LIST(X) \
    X(version) X(target) X(address_size) X(visible) X(extern) X(weak) X(common) X(entry) X(func) X(alias) X(file) \
    X(section) X(pragma) X(loc) X(reg) X(global) X(const) X(shared) X(local) X(param) X(tex) X(align) X(ptr) \
    X(attribute) X(maxntid) X(reqntid) X(minnctapersm) X(maxnctapersm) X(maxnreg) X(maxclusterrank) \
    X(reqnctapercluster) X(explicitcluster) X(blocksareclusters) X(noreturn) X(unique) X(abi_preserve) \
    X(abi_preserve_control) X(branchtargets) X(calltargets) X(callprototype)
/* clang-format on */

enum directive {
#define X(name) DIRECTIVE_##name,
    DIRECTIVE_LIST(X)
#undef X
        DIRECTIVE_COUNT,
};

enum {
    LIMIT_SCOPES = 256,           /* nested in a function */
    LIMIT_EXPRESSION = 100,       /* nested parentheses, signs and choices */
    LIMIT_OPERAND = 4,            /* nested brackets and braces */
    LIMIT_DIMENSIONS = 16,        /* of an array */
    LIMIT_REGISTERS = 1 << 24,    /* in one range */
    LIMIT_SOURCE_FILES = 1 << 16, /* the highest number of .file */
    LIMIT_ALIGN = 1 << 16,        /* bytes */
    LIMIT_TEXT_BYTES = 1 << 30,
    KNOWN_MAJOR = 9, /* the newest known version; a newer one is a warning */
    KNOWN_MINOR = 0,
    INITIAL_BYTES_ALWAYS = 1 << 26, /* total size of a module's initialised variables ... */
    INITIAL_BYTES_PER_BYTE = 16,    /* ... plus this for each byte of its text */
};
#define LIMIT_VARIABLE_BYTES (UINT64_C(1) << 32)

/* A growing array outside the arena; list_keep copies it there once its length is known. */
struct list {
    unsigned char *data;
    size_t item_bytes;
    uint32_t count, capacity;
};

void *list_push(struct list *list); /* appends a zeroed item; may move the others */
static inline void *list_at(const struct list *list, uint32_t i) { return list->data + i * list->item_bytes; }
void list_free(struct list *list);
void *list_keep(struct list *list, struct arena *arena); /* copies the items and empties the list */

/* Name spaces. They are disjoint: a range %r<9> is entered by its stem, a used register of a range belongs to the
 * range. */
enum symbol_space {
    IN_MNEMONICS,
    IN_MODIFIERS,
    IN_DIRECTIVES,
    IN_NAMES,
    IN_RANGES,
    IN_RANGE_MEMBERS, /* plus the index of the range */
};

enum symbol_kind {
    SYMBOL_WORD,
    SYMBOL_REGISTER,
    SYMBOL_SPECIAL,
    SYMBOL_RANGE,
    SYMBOL_VARIABLE,
    SYMBOL_FUNCTION,
    SYMBOL_LABEL,
    SYMBOL_TARGETS,
};

struct symbol {
    const char *text; /* in the module's text, or a keyword */
    uint32_t length, hash, space;
    uint32_t next; /* next in the bucket, plus 1 */
    uint32_t index;
    uint8_t kind;
    struct ptx_place place;
};

struct names {
    struct list symbols; /* in the order of declaration */
    uint32_t *buckets;   /* the newest symbol of each, plus 1 */
    uint32_t bucket_count;
};

/* The innermost symbol with the name, NULL if there is none; and the next outer one. */
struct symbol *names_find(const struct names *names, uint32_t space, const char *text, uint32_t length);
struct symbol *names_outer(const struct names *names, const struct symbol *symbol);
struct symbol *names_add(struct names *names, uint32_t space, const char *text, uint32_t length);
/* Removes all but the first `count` symbols. */
void names_release(struct names *names, uint32_t count);
static inline uint32_t names_position(const struct names *names, const struct symbol *symbol) {
    return (uint32_t)(symbol - (const struct symbol *)(const void *)names->symbols.data);
}

/* Registers declared as stem<count>. Only those used become registers of the function. */
struct range {
    uint32_t count;
    uint8_t type, vector;
    bool is_special; /* %pm, %envreg */
    uint32_t special;
    struct ptx_place place;
};

struct scope {
    uint32_t names, labels, pending; /* counts at the start of the scope */
    struct ptx_place place;
};

struct parser {
    struct ptx_module *module;
    struct error *err;
    struct lexer lexer;
    struct token token; /* lookahead */
    unsigned depth;     /* of expressions and operands */

    struct names words, names, labels, members; /* members: used registers of ranges */
    struct list variables, functions, ranges, source_files, aliases;
    uint64_t initial_bytes;

    /* The function being parsed. */
    uint32_t function; /* PTX_NONE: none */
    uint32_t reserved; /* the variable for the system's shared memory; PTX_NONE: not used */
    uint16_t mnemonic; /* of the instruction being parsed */
    struct list registers, instrs, operands, function_labels, targets;
    struct list stack;   /* operands not yet moved to the pool */
    struct list pending; /* indices of operands with unresolved labels */
    struct list scopes;
    uint32_t source_file, source_line;
    const char *unknown; /* as in struct ptx_function */
    uint32_t unknown_instr;
    bool
        newer; /* the error may be a feature of PTX that Sluice does not know: it is the function's, not the module's */
};

/* parser_names.c */
void parser_init(struct parser *p, struct ptx_module *module, struct error *err);
void parser_free(struct parser *p);
/* The index of a keyword in a name space; PTX_NONE if unknown. */
uint32_t parser_word(const struct parser *p, uint32_t space, const struct token *token);
char *parser_text(const struct parser *p, const struct token *token);
/* "; did you mean 'x'?" or "", for a keyword and for a declared name. */
const char *parser_word_hint(const struct parser *p, uint32_t space, const struct token *token);
const char *parser_name_hint(const struct parser *p, const struct names *names, const struct token *token);

/* Tokens. */
bool parser_next(struct parser *p);
bool parser_expected(struct parser *p, const char *what); /* reports what was found and what was expected */
bool parser_take(struct parser *p, int kind, const char *what);
static inline bool parser_is(const struct parser *p, int kind) { return p->token.kind == kind; }
bool parser_is_word(const struct parser *p, const char *word);
bool parser_integer(struct parser *p, uint64_t limit, const char *what, uint64_t *value);
bool parser_skip_group(struct parser *p, int open, int close);

/* parser_expression.c */
struct constant {
    bool is_float, is_unsigned, single;
    uint64_t bits; /* of an integer, a double, or (single: a literal 0f...) a float */
};
bool parser_expression(struct parser *p, struct constant *value);
bool parser_integer_expression(struct parser *p, int64_t *value);
/* + or - and an integer expression, if present. */
bool parser_offset(struct parser *p, int64_t *value);
double constant_double(const struct constant *value);

/* parser_variable.c */
bool parser_declare(struct parser *p, const struct token *name, uint8_t kind, uint32_t index);
bool parser_registers(struct parser *p);
bool parser_variables(struct parser *p, uint8_t space, uint8_t linkage);
/* (parameter, ...): numbers of variables are pushed on `list`; names are declared by parser_parameters_declare. */
bool parser_parameters(struct parser *p, struct list *list, bool is_return);
bool parser_parameters_declare(struct parser *p, const uint32_t *list, uint32_t count);

/* parser_body.c: from after the opening brace to the closing one. */
bool parser_body(struct parser *p, struct ptx_place open);

/* parser.c */
bool parser_debug_directive(struct parser *p, enum directive directive); /* .loc, .file, .section, .pragma */

#endif
