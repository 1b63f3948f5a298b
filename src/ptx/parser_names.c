#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"
#include "ptx/program.h"

void *list_push(struct list *list) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->data = mem_grow(list->data, list->capacity, list->item_bytes);
    }
    return memset(list_at(list, list->count++), 0, list->item_bytes);
}

void list_free(struct list *list) { free(list->data); }

void *list_keep(struct list *list, struct arena *arena) {
    if (list->count == 0) return NULL;
    void *kept = arena_grow(arena, list->data, list->count, list->count, list->item_bytes);
    list->count = 0;
    return kept;
}

static uint32_t hash_of(uint32_t space, const char *text, uint32_t length) {
    uint32_t hash = 2166136261u ^ space * 2654435761u; /* FNV-1a */
    for (uint32_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static struct symbol *symbol_at(const struct names *names, uint32_t i) { return list_at(&names->symbols, i); }

static void link_symbol(struct names *names, uint32_t i) {
    uint32_t *bucket = &names->buckets[symbol_at(names, i)->hash & (names->bucket_count - 1)];
    symbol_at(names, i)->next = *bucket;
    *bucket = i + 1;
}

static struct symbol *matching(const struct names *names, uint32_t from, const struct symbol *key) {
    for (uint32_t i = from; i != 0; i = symbol_at(names, i - 1)->next) {
        struct symbol *symbol = symbol_at(names, i - 1);
        if (symbol->hash == key->hash && symbol->space == key->space && symbol->length == key->length &&
            memcmp(symbol->text, key->text, key->length) == 0)
            return symbol;
    }
    return NULL;
}

struct symbol *names_find(const struct names *names, uint32_t space, const char *text, uint32_t length) {
    if (names->bucket_count == 0) return NULL;
    struct symbol key = {.text = text, .length = length, .space = space, .hash = hash_of(space, text, length)};
    return matching(names, names->buckets[key.hash & (names->bucket_count - 1)], &key);
}

struct symbol *names_outer(const struct names *names, const struct symbol *symbol) {
    return matching(names, symbol->next, symbol);
}

struct symbol *names_add(struct names *names, uint32_t space, const char *text, uint32_t length) {
    struct symbol *symbol = list_push(&names->symbols);
    symbol->text = text;
    symbol->length = length;
    symbol->space = space;
    symbol->hash = hash_of(space, text, length);
    if (names->symbols.count > names->bucket_count) { /* rehash into twice the buckets, oldest first */
        names->bucket_count = names->bucket_count ? 2 * names->bucket_count : 64;
        names->buckets = mem_grow(names->buckets, names->bucket_count, sizeof *names->buckets);
        memset(names->buckets, 0, names->bucket_count * sizeof *names->buckets);
        for (uint32_t i = 0; i < names->symbols.count; i++) link_symbol(names, i);
    } else {
        link_symbol(names, names->symbols.count - 1);
    }
    return symbol;
}

/* The newest symbol is always first in its bucket. */
void names_release(struct names *names, uint32_t count) {
    while (names->symbols.count > count) {
        struct symbol *symbol = symbol_at(names, --names->symbols.count);
        names->buckets[symbol->hash & (names->bucket_count - 1)] = symbol->next;
    }
}

static void add_word(struct names *names, uint32_t space, const char *text, uint8_t kind, uint32_t index) {
    struct symbol *symbol = names_add(names, space, text, (uint32_t)strlen(text));
    symbol->kind = kind;
    symbol->index = index;
}

static void add_words(struct parser *p) {
    static const char *const directives[] = {
#define X(name) #name,
        DIRECTIVE_LIST(X)
#undef X
    };
    static const char *const specials[] = {
#define X(name, text, vector, kind) text,
#include "ptx/specials.def"
#undef X
    };
    for (uint32_t i = 0; i < PTX_MN_unknown; i++)
        add_word(&p->words, IN_MNEMONICS, ptx_mnemonic_name(i), SYMBOL_WORD, i);
    for (uint32_t i = 0; i < PTX_MOD_other; i++)
        add_word(&p->words, IN_MODIFIERS, ptx_modifier_text(i), SYMBOL_WORD, i);
    for (uint32_t i = 0; i < DIRECTIVE_COUNT; i++) add_word(&p->words, IN_DIRECTIVES, directives[i], SYMBOL_WORD, i);
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++) {
        bool numbered = i == SPECIAL_pm || i == SPECIAL_envreg;
        if (!numbered) {
            add_word(&p->names, IN_NAMES, specials[i], SYMBOL_SPECIAL, i);
            continue;
        }
        add_word(&p->names, IN_RANGES, specials[i], SYMBOL_RANGE, p->ranges.count);
        struct range *range = list_push(&p->ranges);
        *range = (struct range){.count = i == SPECIAL_pm ? 8 : 32, .is_special = true, .special = i};
    }
}

void parser_init(struct parser *p, struct ptx_module *module, struct error *err) {
    *p = (struct parser){.module = module, .err = err, .function = PTX_NONE, .reserved = PTX_NONE};
    const struct {
        struct list *list;
        size_t bytes;
    } lists[] = {{&p->words.symbols, sizeof(struct symbol)},
                 {&p->names.symbols, sizeof(struct symbol)},
                 {&p->labels.symbols, sizeof(struct symbol)},
                 {&p->members.symbols, sizeof(struct symbol)},
                 {&p->variables, sizeof(struct ptx_variable)},
                 {&p->functions, sizeof(struct ptx_function)},
                 {&p->ranges, sizeof(struct range)},
                 {&p->source_files, sizeof(char *)},
                 {&p->aliases, sizeof(struct ptx_operand)},
                 {&p->registers, sizeof(struct ptx_register)},
                 {&p->instrs, sizeof(struct ptx_instr)},
                 {&p->operands, sizeof(struct ptx_operand)},
                 {&p->function_labels, sizeof(struct ptx_label)},
                 {&p->targets, sizeof(struct ptx_targets)},
                 {&p->stack, sizeof(struct ptx_operand)},
                 {&p->pending, sizeof(uint32_t)},
                 {&p->scopes, sizeof(struct scope)}};
    for (unsigned i = 0; i < COUNT_OF(lists); i++) lists[i].list->item_bytes = lists[i].bytes;
    add_words(p);
    lexer_start(&p->lexer, module);
}

void parser_free(struct parser *p) {
    struct names *tables[] = {&p->words, &p->names, &p->labels, &p->members};
    for (unsigned i = 0; i < COUNT_OF(tables); i++) {
        free(tables[i]->symbols.data);
        free(tables[i]->buckets);
    }
    struct list *lists[] = {&p->variables, &p->functions, &p->ranges,         &p->source_files, &p->aliases,
                            &p->registers, &p->instrs,    &p->operands,       &p->targets,      &p->stack,
                            &p->pending,   &p->scopes,    &p->function_labels};
    for (unsigned i = 0; i < COUNT_OF(lists); i++) free(lists[i]->data);
}

uint32_t parser_word(const struct parser *p, uint32_t space, const struct token *token) {
    const struct symbol *symbol = names_find(&p->words, space, token->text, token->length);
    return symbol ? symbol->index : PTX_NONE;
}

char *parser_text(const struct parser *p, const struct token *token) {
    return arena_text(p->module->arena, token->text, token->length);
}

/* The register of the range closest to the name: the same number if it exists. */
static const char *candidate(struct arena *arena, const struct parser *p, const struct symbol *symbol,
                             const char *word) {
    if (symbol->kind != SYMBOL_RANGE) return arena_text(arena, symbol->text, symbol->length);
    const struct range *range = list_at(&p->ranges, symbol->index);
    const char *number = word + strlen(word);
    while (number > word && number[-1] >= '0' && number[-1] <= '9') number--;
    unsigned long written = strtoul(number, NULL, 10), last = range->count - 1;
    char name[80];
    int stem = (int)min_u64(symbol->length, 60);
    snprintf(name, sizeof name, "%.*s%lu", stem, symbol->text, written < last ? written : last);
    return arena_text(arena, name, strlen(name));
}

/* Runs once for a module that is rejected, and for a function that is not executed; with very many names only the newest
 * are compared. */
static const char *hint(const struct parser *p, const struct names *names, uint32_t space_from, uint32_t space_to,
                        const struct token *token) {
    enum { COMPARED = 4096 };
    if (token->length > 60) return "";
    struct arena *arena = arena_create();
    const char *word = arena_text(arena, token->text, token->length),
               **near = arena_alloc(arena, COMPARED, sizeof *near), *result = "";
    uint32_t all = names->symbols.count;
    size_t count = 0;
    for (uint32_t i = all > COMPARED ? all - COMPARED : 0; i < all; i++) {
        const struct symbol *symbol = symbol_at(names, i);
        if (symbol->space >= space_from && symbol->space <= space_to) near[count++] = candidate(arena, p, symbol, word);
    }
    const char *best = nearest_name(word, near, count);
    if (best && strcmp(best, word) != 0) {
        char text[128];
        snprintf(text, sizeof text, "; did you mean '%s%s'?",
                 space_to == IN_MNEMONICS || space_from >= IN_NAMES ? "" : ".", best);
        result = arena_text(p->module->arena, text, strlen(text));
    }
    arena_destroy(arena);
    return result;
}

const char *parser_word_hint(const struct parser *p, uint32_t space, const struct token *token) {
    return hint(p, &p->words, space, space, token);
}

const char *parser_name_hint(const struct parser *p, const struct names *names, const struct token *token) {
    return hint(p, names, IN_NAMES, IN_RANGES, token);
}

bool parser_next(struct parser *p) { return lexer_next(&p->lexer, &p->token, p->err); }

bool parser_expected(struct parser *p, const char *what) {
    const struct token *token = &p->token;
    const char *mark = token->kind == TOKEN_STRING ? "\"" : "'", *dot = token->kind == TOKEN_DOTTED ? "." : "";
    if (token->kind == TOKEN_END)
        return ptx_error(p->module, token->place, p->err, "found the end of the file, expected %s", what);
    return ptx_error(p->module, token->place, p->err, "found %s%s%.*s%s, expected %s", mark, dot,
                     (int)min_u64(token->length, 80), token->text, mark, what);
}

bool parser_take(struct parser *p, int kind, const char *what) {
    return parser_is(p, kind) ? parser_next(p) : parser_expected(p, what);
}

bool parser_is_word(const struct parser *p, const char *word) {
    return parser_is(p, TOKEN_WORD) && p->token.length == strlen(word) &&
           memcmp(p->token.text, word, p->token.length) == 0;
}

bool parser_integer(struct parser *p, uint64_t limit, const char *what, uint64_t *value) {
    if (!parser_is(p, TOKEN_INTEGER)) return parser_expected(p, what);
    *value = p->token.value;
    if (*value > limit)
        return ptx_error(p->module, p->token.place, p->err, "%llu is too large: expected %s, at most %llu",
                         (unsigned long long)*value, what, (unsigned long long)limit);
    return parser_next(p);
}

/* Skips from an opening delimiter to the matching closing one. */
bool parser_skip_group(struct parser *p, int open, int close) {
    char what[4] = {'\'', (char)open, '\'', '\0'};
    struct ptx_place start = p->token.place;
    if (!parser_take(p, open, what)) return false;
    for (uint32_t depth = 1; depth > 0;) {
        if (parser_is(p, TOKEN_END))
            return ptx_error(p->module, start, p->err, "'%c' is not closed; expected '%c'", open, close);
        depth += parser_is(p, open) ? 1 : 0;
        depth -= parser_is(p, close) ? 1 : 0;
        if (!parser_next(p)) return false;
    }
    return true;
}
