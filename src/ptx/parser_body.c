/* Function bodies. Operands are pushed on a stack as they are read; at the closing brace, bracket or semicolon those
 * above the mark move to the function's pool, and a composite operand replaces them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/parser.h"
#include "ptx/program.h"

static void scope_open(struct parser *p) {
    struct scope *scope = list_push(&p->scopes);
    *scope = (struct scope){p->names.symbols.count, p->labels.symbols.count, p->pending.count, p->token.place};
}

static struct token name_at(const struct parser *p, struct ptx_place place) {
    const char *text = p->module->text + place.offset;
    return (struct token){.kind = TOKEN_WORD, .text = text, .length = lexer_word_length(text), .place = place};
}

static bool unknown(struct parser *p, const char *what, const struct names *names, const struct token *name) {
    return ptx_error(p->module, name->place, p->err, "unknown %s '%.*s'%s", what, (int)min_u64(name->length, 80),
                     name->text, parser_name_hint(p, names, name));
}

/* Resolves labels defined in the scope; unresolved ones are left to the enclosing scope. */
static bool scope_close(struct parser *p) {
    struct scope scope = *(struct scope *)list_at(&p->scopes, p->scopes.count - 1);
    uint32_t left = scope.pending, *pending = (uint32_t *)(void *)p->pending.data;
    for (uint32_t i = scope.pending; i < p->pending.count; i++) {
        struct ptx_operand *operand = list_at(&p->operands, pending[i]);
        struct token name = name_at(p, operand->place);
        const struct symbol *symbol = names_find(&p->labels, IN_NAMES, name.text, name.length);
        if (symbol && names_position(&p->labels, symbol) >= scope.labels) {
            operand->kind = symbol->kind == SYMBOL_LABEL ? PTX_OPERAND_LABEL : PTX_OPERAND_TARGETS;
            operand->index = symbol->index;
        } else if (p->scopes.count == 1) {
            return unknown(p, "label", &p->labels, &name);
        } else {
            pending[left++] = pending[i];
        }
    }
    p->pending.count = left;
    names_release(&p->names, scope.names);
    names_release(&p->labels, scope.labels);
    p->scopes.count--;
    return true;
}

/* Moves operands from `mark` of the stack to the pool; returns their index there. */
static uint32_t settle(struct parser *p, uint32_t mark) {
    uint32_t first = p->operands.count;
    for (uint32_t i = mark; i < p->stack.count; i++) {
        const struct ptx_operand *operand = list_at(&p->stack, i);
        if (operand->kind == PTX_OPERAND_LABEL) *(uint32_t *)list_push(&p->pending) = p->operands.count;
        *(struct ptx_operand *)list_push(&p->operands) = *operand;
    }
    p->stack.count = mark;
    return first;
}

static struct ptx_operand *push(struct parser *p, enum ptx_operand_kind kind, uint32_t index, struct ptx_place place) {
    struct ptx_operand *operand = list_push(&p->stack);
    operand->kind = (uint8_t)kind;
    operand->index = index;
    operand->place = place;
    return operand;
}

static void push_composite(struct parser *p, enum ptx_operand_kind kind, uint32_t mark, struct ptx_place place) {
    uint32_t count = p->stack.count - mark, first = settle(p, mark);
    struct ptx_operand *operand = push(p, kind, 0, place);
    operand->first = first;
    operand->count = count;
}

static bool push_constant(struct parser *p) {
    struct ptx_place place = p->token.place;
    struct constant value;
    if (!parser_expression(p, &value)) return false;
    struct ptx_operand *operand = push(p, value.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INTEGER, 0, place);
    operand->single = value.single;
    operand->value = (int64_t)value.bits;
    return true;
}

/* A register of a range, created at its first use. */
static uint32_t member(struct parser *p, const struct symbol *stem, const struct token *name) {
    uint32_t space = IN_RANGE_MEMBERS + stem->index;
    const struct symbol *known = names_find(&p->members, space, name->text, name->length);
    if (known) return known->index;
    const struct range *range = list_at(&p->ranges, stem->index);
    names_add(&p->members, space, name->text, name->length)->index = p->registers.count;
    struct ptx_register *reg = list_push(&p->registers);
    *reg = (struct ptx_register){
        .name = parser_text(p, name), .type = range->type, .vector = range->vector, .place = range->place};
    return p->registers.count - 1;
}

/* The innermost range that contains the name: its stem and a number below its count, without leading zeros. *beyond is
 * one whose count is too small. */
static const struct symbol *range_of(const struct parser *p, const struct token *name, uint32_t *number,
                                     const struct symbol **beyond) {
    const struct symbol *best = NULL;
    uint64_t value = 0, weight = 1;
    for (uint32_t stem = name->length; stem-- > 1 && weight <= LIMIT_REGISTERS * UINT64_C(10); weight *= 10) {
        char digit = name->text[stem];
        if (digit < '0' || digit > '9') break;
        value += (uint64_t)(digit - '0') * weight;
        if (digit == '0' && stem + 1 < name->length) continue;
        const struct symbol *symbol = names_find(&p->names, IN_RANGES, name->text, stem);
        for (; symbol && (!best || symbol > best); symbol = names_outer(&p->names, symbol)) {
            const struct range *range = list_at(&p->ranges, symbol->index);
            if (value < range->count) {
                best = symbol;
                *number = (uint32_t)value;
            } else if (!range->is_special) {
                *beyond = symbol;
            }
        }
    }
    return best;
}

/* A register, special register, variable or function; *found is false, without an error, if the name is unknown. */
static bool push_named(struct parser *p, const struct token *name, bool *found) {
    const struct symbol *symbol = names_find(&p->names, IN_NAMES, name->text, name->length), *beyond = NULL;
    uint32_t number = 0;
    const struct symbol *stem = range_of(p, name, &number, &beyond);
    *found = true;
    if (stem && (!symbol || stem > symbol)) { /* the inner one, or the later one in the same scope */
        const struct range *range = list_at(&p->ranges, stem->index);
        if (!range->is_special) {
            push(p, PTX_OPERAND_REGISTER, member(p, stem, name), name->place);
        } else {
            push(p, PTX_OPERAND_SPECIAL, range->special, name->place)->value = number;
        }
        return true;
    }
    if (symbol) {
        static const uint8_t kinds[] = {[SYMBOL_REGISTER] = PTX_OPERAND_REGISTER,
                                        [SYMBOL_SPECIAL] = PTX_OPERAND_SPECIAL,
                                        [SYMBOL_VARIABLE] = PTX_OPERAND_VARIABLE,
                                        [SYMBOL_FUNCTION] = PTX_OPERAND_FUNCTION};
        push(p, kinds[symbol->kind], symbol->index, name->place);
        return true;
    }
    *found = false;
    if (!beyond) return true;
    return ptx_error(p->module, name->place, p->err, "unknown register '%.*s': line %u declares %.*s<%u>",
                     (int)min_u64(name->length, 80), name->text, beyond->place.line, (int)min_u64(beyond->length, 80),
                     beyond->text, ((const struct range *)list_at(&p->ranges, beyond->index))->count);
}

static bool is_vector(const struct parser *p, const struct ptx_operand *operand) {
    static const bool special_vector[] = {
#define X(name, text, vector, kind) vector,
#include "ptx/specials.def"
#undef X
    };
    if (operand->kind == PTX_OPERAND_SPECIAL) return special_vector[operand->index];
    return ((const struct ptx_register *)list_at(&p->registers, operand->index))->vector != 0;
}

/* The .x of a vector. */
static bool component(struct parser *p) {
    if (!parser_is(p, TOKEN_DOTTED)) return true;
    struct ptx_operand *operand = list_at(&p->stack, p->stack.count - 1);
    const char *letters = "xyzwrgba", *at = p->token.length == 1 ? strchr(letters, p->token.text[0]) : NULL;
    if (!at) return parser_expected(p, "',' or ';' (for a vector: .x, .y, .z or .w)");
    if (!is_vector(p, operand))
        return ptx_error(p->module, p->token.place, p->err, "found '.%c', but the register is not a vector",
                         p->token.text[0]);
    operand->component = (uint8_t)((at - letters) % 4 + 1);
    return parser_next(p);
}

static bool push_operand(struct parser *p);

static bool nested(struct parser *p) {
    if (++p->depth > LIMIT_OPERAND)
        return ptx_error(p->module, p->token.place, p->err, "operands are nested more than %d levels deep",
                         LIMIT_OPERAND);
    bool ok = push_operand(p);
    p->depth--;
    return ok;
}

/* {a, b} and (a, b), starting at the opening delimiter. */
static bool push_group(struct parser *p, enum ptx_operand_kind kind, int close) {
    struct ptx_place place = p->token.place;
    uint32_t mark = p->stack.count;
    char what[] = "',' or '?'";
    what[sizeof what - 3] = (char)close;
    if (!parser_next(p)) return false;
    while (!parser_is(p, close)) {
        if (!nested(p)) return false;
        if (!parser_is(p, ',')) break;
        if (!parser_next(p)) return false;
    }
    if (!parser_take(p, close, what)) return false;
    push_composite(p, kind, mark, place);
    return true;
}

static bool takes_coordinates(enum ptx_mnemonic mnemonic) {
    return mnemonic == PTX_MN_tex || mnemonic == PTX_MN_tld4 || mnemonic == PTX_MN_suld || mnemonic == PTX_MN_sust;
}

/* [base], [base + constant], [constant]; texture coordinates may follow after a comma. */
static bool push_address(struct parser *p) {
    struct ptx_place place = p->token.place;
    uint32_t mark = p->stack.count;
    int64_t offset = 0;
    if (!parser_next(p)) return false;
    if (parser_is(p, ']')) return parser_expected(p, "an address");
    if (!nested(p)) return false;
    struct ptx_operand *base = list_at(&p->stack, mark);
    if (base->kind == PTX_OPERAND_VARIABLE || base->kind == PTX_OPERAND_REGISTER) {
        offset = base->value;
        base->value = 0;
    }
    while (parser_is(p, ',') && takes_coordinates(p->mnemonic))
        if (!parser_next(p) || !nested(p)) return false;
    if (!parser_take(p, ']', "']'")) return false;
    push_composite(p, PTX_OPERAND_ADDRESS, mark, place);
    ((struct ptx_operand *)list_at(&p->stack, mark))->value = offset;
    return true;
}

/* The name of a label or list, resolved when the scope closes. */
static bool push_label(struct parser *p, const struct token *name) {
    push(p, PTX_OPERAND_LABEL, PTX_NONE, name->place);
    return true;
}

/* After the target of a call: the name of a list may follow. */
static bool target_read(const struct parser *p) {
    return p->depth == 0 && p->stack.count > 0 &&
           (p->stack.count > 1 || ((const struct ptx_operand *)list_at(&p->stack, 0))->kind != PTX_OPERAND_LIST);
}

/* %reserved_smem_offset_...: shared memory reserved by the system for cooperative groups. It becomes a shared variable
 * of the modules that use it. */
enum { RESERVED_BYTES = 1024 };
static bool push_reserved(struct parser *p, const struct token *name) {
    static const struct {
        const char *name;
        int64_t value;
    } offsets[] = {{"begin", 0}, {"0", 0}, {"1", RESERVED_BYTES / 2}, {"end", RESERVED_BYTES}};
    static const char stem[] = "%reserved_smem_offset_", cap[] = "%reserved_smem_offset_cap";
    const uint32_t length = sizeof stem - 1;
    if (name->length == sizeof cap - 1 && memcmp(name->text, cap, sizeof cap - 1) == 0) {
        push(p, PTX_OPERAND_INTEGER, 0, name->place)->value = RESERVED_BYTES;
        return true;
    }
    for (unsigned i = 0; name->length > length && memcmp(name->text, stem, length) == 0 && i < COUNT_OF(offsets); i++) {
        if (strlen(offsets[i].name) != name->length - length ||
            memcmp(name->text + length, offsets[i].name, name->length - length) != 0)
            continue;
        if (p->reserved == PTX_NONE) {
            p->reserved = p->variables.count;
            *(struct ptx_variable *)list_push(&p->variables) = (struct ptx_variable){.name = "%reserved_smem",
                                                                                     .space = PTX_SPACE_SHARED,
                                                                                     .type = PTX_b8,
                                                                                     .function = PTX_NONE,
                                                                                     .register_index = PTX_NONE,
                                                                                     .size_bytes = RESERVED_BYTES,
                                                                                     .align_bytes = 128,
                                                                                     .place = name->place};
        }
        push(p, PTX_OPERAND_VARIABLE, p->reserved, name->place)->value = offsets[i].value;
        return true;
    }
    return false;
}

static bool push_word(struct parser *p) {
    struct token name = p->token;
    bool found;
    if (!parser_next(p)) return false;
    if (name.length == 1 && name.text[0] == '_') return push(p, PTX_OPERAND_SINK, 0, name.place) != NULL;
    if (p->mnemonic == PTX_MN_bra) return push_label(p, &name);
    if (!push_named(p, &name, &found)) return false;
    if (!found) {
        bool label = p->mnemonic == PTX_MN_brx || (p->mnemonic == PTX_MN_call && target_read(p));
        if (label && name.text[0] != '%') return push_label(p, &name);
        if (push_reserved(p, &name)) return true;
        const char *what = p->mnemonic == PTX_MN_call && p->depth == 0 ? "function" : "register or variable";
        char last = name.text[name.length - 1];
        p->newer = name.text[0] == '%' && (last < '0' || last > '9'); /* a special register, by its name */
        return unknown(p, name.text[0] == '%' ? "register" : what, &p->names, &name);
    }
    struct ptx_operand *operand = list_at(&p->stack, p->stack.count - 1);
    int64_t offset;
    if (operand->kind == PTX_OPERAND_FUNCTION) return true;
    if (operand->kind != PTX_OPERAND_VARIABLE && !component(p)) return false;
    if (operand->kind == PTX_OPERAND_SPECIAL) return true;
    if (!parser_offset(p, &offset)) return false;
    operand->value = offset;
    return true;
}

/* p|q, starting at the '|' with p on the stack. */
static bool push_pair(struct parser *p, struct ptx_place place) {
    uint32_t mark = p->stack.count - 1;
    if (!parser_next(p)) return false;
    if (!parser_is(p, TOKEN_WORD)) return parser_expected(p, "a register or '_'");
    if (!push_word(p)) return false;
    push_composite(p, PTX_OPERAND_PAIR, mark, place);
    return true;
}

static bool push_operand(struct parser *p) {
    struct ptx_place place = p->token.place;
    switch (p->token.kind) {
    case '{': return push_group(p, PTX_OPERAND_VECTOR, '}') && (!parser_is(p, '|') || push_pair(p, place));
    case '[': return push_address(p);
    case TOKEN_WORD:
        if (parser_is_word(p, "WARP_SZ")) return push_constant(p);
        return push_word(p) && (!parser_is(p, '|') || push_pair(p, place));
    case '!': {
        struct lexer before = p->lexer;
        struct token mark = p->token;
        if (!parser_next(p)) return false;
        if (parser_is(p, TOKEN_WORD) && !parser_is_word(p, "WARP_SZ")) {
            if (!push_word(p)) return false;
            ((struct ptx_operand *)list_at(&p->stack, p->stack.count - 1))->negated = true;
            return true;
        }
        p->lexer = before; /* it starts a constant expression */
        p->token = mark;
        return push_constant(p);
    }
    case '(':
        if (p->mnemonic == PTX_MN_call) return push_group(p, PTX_OPERAND_LIST, ')');
        return push_constant(p);
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
    case '+':
    case '-':
    case '~': return push_constant(p);
    default: return parser_expected(p, "an operand");
    }
}

/* The instruction being read is unknown, and why; kept for the first one of the function. */
static void __attribute__((format(printf, 2, 3))) note_unknown(struct parser *p, const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->unknown = arena_text(p->module->arena, text, strlen(text));
    p->unknown_instr = p->instrs.count;
}

static bool modifiers(struct parser *p, struct ptx_instr *instr) {
    for (; parser_is(p, TOKEN_DOTTED); instr->modifier_count++) {
        if (instr->modifier_count == PTX_MODIFIERS)
            return ptx_error(p->module, p->token.place, p->err, "more than %d modifiers", PTX_MODIFIERS);
        uint32_t modifier = parser_word(p, IN_MODIFIERS, &p->token);
        if (modifier == PTX_NONE && ptx_mnemonic_supported(instr->mnemonic) && !p->unknown)
            note_unknown(p, "unknown modifier '.%.*s' of '%s'%s", (int)min_u64(p->token.length, 80), p->token.text,
                         ptx_mnemonic_name(instr->mnemonic), parser_word_hint(p, IN_MODIFIERS, &p->token));
        bool same_line = p->token.place.line == instr->place.line;
        instr->modifier[instr->modifier_count] = (uint16_t)(modifier == PTX_NONE ? PTX_MOD_other : modifier);
        instr->modifier_column[instr->modifier_count] =
            (uint16_t)min_u64(same_line ? p->token.place.column : instr->place.column, UINT16_MAX);
        if (!parser_next(p)) return false;
    }
    return true;
}

static bool operands(struct parser *p) {
    while (!parser_is(p, ';')) {
        if (!push_operand(p)) return false;
        if (!parser_is(p, ',')) break;
        if (!parser_next(p)) return false;
        if (parser_is(p, ';')) return parser_expected(p, "an operand");
    }
    return parser_take(p, ';', "',' or ';'");
}

/* Skips operands of any form: up to a semicolon outside of parentheses, brackets and braces. */
static bool skip_operands(struct parser *p) {
    static const char opening[] = "([{", closing[] = ")]}";
    for (unsigned depth = 0; depth || !parser_is(p, ';');) {
        bool mark = p->token.kind > 0 && p->token.kind < TOKEN_WORD;
        if (mark && strchr(opening, p->token.kind))
            depth++;
        else if (mark && strchr(closing, p->token.kind) && depth-- == 0)
            return parser_expected(p, "';'");
        if (parser_is(p, TOKEN_END)) return parser_expected(p, "';'");
        if (!parser_next(p)) return false;
    }
    return parser_next(p);
}

static bool is_executed(const struct ptx_instr *instr) {
    bool known = ptx_mnemonic_supported(instr->mnemonic) || ptx_mnemonic_partly(instr->mnemonic);
    for (unsigned i = 0; i < instr->modifier_count; i++) known = known && instr->modifier[i] != PTX_MOD_other;
    return known;
}

/* After the mnemonic. */
static bool instruction(struct parser *p, const struct token *word, struct ptx_instr *instr) {
    uint32_t mnemonic = parser_word(p, IN_MNEMONICS, word);
    if (mnemonic == PTX_NONE) {
        mnemonic = PTX_MN_unknown;
        if (!p->unknown)
            note_unknown(p, "unknown instruction '%.*s'%s", (int)min_u64(word->length, 80), word->text,
                         parser_word_hint(p, IN_MNEMONICS, word));
    }
    instr->place = word->place;
    instr->mnemonic = p->mnemonic = (uint16_t)mnemonic;
    instr->source_file = p->source_file;
    instr->source_line = p->source_line;
    if (!modifiers(p, instr)) return false;
    p->stack.count = 0;
    if (!(is_executed(instr) ? operands(p) : skip_operands(p))) return false;
    instr->count = p->stack.count;
    instr->first = settle(p, 0);
    *(struct ptx_instr *)list_push(&p->instrs) = *instr;
    return true;
}

/* After '@'. */
static bool guarded(struct parser *p) {
    struct ptx_instr instr = {.guarded = true};
    if (parser_is(p, '@')) { /* @@DWARF: debug information of old compilers, line by line */
        lexer_skip_line(&p->lexer);
        return parser_next(p);
    }
    if (parser_is(p, '!')) {
        instr.guard_negated = true;
        if (!parser_next(p)) return false;
    }
    struct token name = p->token;
    bool found;
    if (!parser_take(p, TOKEN_WORD, "a predicate register")) return false;
    p->stack.count = 0;
    if (!push_named(p, &name, &found)) return false;
    if (!found) return unknown(p, "register", &p->names, &name);
    const struct ptx_operand *operand = list_at(&p->stack, 0);
    const struct ptx_register *reg =
        operand->kind == PTX_OPERAND_REGISTER ? list_at(&p->registers, operand->index) : NULL;
    if (!reg || reg->type != PTX_pred || reg->vector)
        return ptx_error(p->module, name.place, p->err, "'%.*s' is not a predicate; expected a register of type .pred",
                         (int)min_u64(name.length, 80), name.text);
    instr.guard = operand->index;
    struct token word = p->token;
    return parser_take(p, TOKEN_WORD, "an instruction") && instruction(p, &word, &instr);
}

static bool declare_label(struct parser *p, const struct token *name, uint8_t kind, uint32_t index) {
    const struct scope *scope = list_at(&p->scopes, p->scopes.count - 1);
    const struct symbol *known = names_find(&p->labels, IN_NAMES, name->text, name->length);
    if (known && names_position(&p->labels, known) >= scope->labels)
        return ptx_error(p->module, name->place, p->err, "label '%.*s' is already defined on line %u",
                         (int)min_u64(name->length, 80), name->text, known->place.line);
    struct symbol *symbol = names_add(&p->labels, IN_NAMES, name->text, name->length);
    symbol->kind = kind;
    symbol->index = index;
    symbol->place = name->place;
    return true;
}

/* Names of labels or functions. They are kept among the operands and collected at the end of the function. */
static bool target_list(struct parser *p, struct ptx_targets *targets) {
    p->mnemonic = targets->kind == PTX_BRANCH_TARGETS ? PTX_MN_bra : PTX_MN_call;
    p->stack.count = 0;
    do {
        if (targets->count > 0 && !parser_next(p)) return false;
        if (!parser_is(p, TOKEN_WORD)) return parser_expected(p, "a name");
        struct ptx_place place = p->token.place;
        if (!push_word(p)) return false;
        const struct ptx_operand *operand = list_at(&p->stack, p->stack.count - 1);
        if (targets->kind == PTX_CALL_TARGETS && operand->kind != PTX_OPERAND_FUNCTION)
            return ptx_error(p->module, place, p->err, "expected a function");
        targets->count++;
    } while (parser_is(p, ','));
    targets->return_count = settle(p, 0); /* their position among the operands */
    return true;
}

static uint32_t *sizes(struct parser *p, const struct list *list) {
    uint32_t *bytes = arena_alloc(p->module->arena, 2 * (size_t)list->count, sizeof *bytes);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_variable *variable = list_at(&p->variables, *(const uint32_t *)list_at(list, i));
        bytes[2 * i] = (uint32_t)min_u64(variable->size_bytes, UINT32_MAX);
        bytes[2 * i + 1] = variable->align_bytes;
    }
    return bytes;
}

/* (returns) _ (parameters): only the sizes are kept. */
static bool prototype(struct parser *p, struct ptx_targets *targets) {
    struct list lists[2] = {{.item_bytes = sizeof(uint32_t)}, {.item_bytes = sizeof(uint32_t)}};
    uint32_t variables = p->variables.count, registers = p->registers.count;
    bool ok = (!parser_is(p, '(') || parser_parameters(p, &lists[0], true)) && parser_take(p, TOKEN_WORD, "'_'") &&
              (!parser_is(p, '(') || parser_parameters(p, &lists[1], false));
    if (ok) {
        targets->return_bytes = sizes(p, &lists[0]);
        targets->return_count = lists[0].count;
        targets->parameter_bytes = sizes(p, &lists[1]);
        targets->parameter_count = lists[1].count;
        targets->in_registers = p->registers.count != registers;
    }
    p->variables.count = variables;
    p->registers.count = registers;
    list_free(&lists[0]);
    list_free(&lists[1]);
    while (ok && parser_is(p, TOKEN_DOTTED)) { /* .noreturn, .abi_preserve 4 */
        ok = parser_next(p) && (!parser_is(p, TOKEN_INTEGER) || parser_next(p));
    }
    return ok;
}

/* label: .branchtargets, .calltargets or .callprototype, starting at the directive. */
static bool labelled_list(struct parser *p, const struct token *label, uint32_t directive) {
    struct ptx_targets targets = {.name = parser_text(p, label), .place = label->place};
    targets.kind = directive == DIRECTIVE_branchtargets ? PTX_BRANCH_TARGETS
                   : directive == DIRECTIVE_calltargets ? PTX_CALL_TARGETS
                                                        : PTX_CALL_PROTOTYPE;
    if (!declare_label(p, label, SYMBOL_TARGETS, p->targets.count) || !parser_next(p)) return false;
    if (!(targets.kind == PTX_CALL_PROTOTYPE ? prototype(p, &targets) : target_list(p, &targets))) return false;
    *(struct ptx_targets *)list_push(&p->targets) = targets;
    return parser_take(p, ';', "';'");
}

static bool labelled(struct parser *p, const struct token *name) {
    if (!parser_next(p)) return false;
    uint32_t directive = parser_is(p, TOKEN_DOTTED) ? parser_word(p, IN_DIRECTIVES, &p->token) : PTX_NONE;
    if (directive == DIRECTIVE_branchtargets || directive == DIRECTIVE_calltargets ||
        directive == DIRECTIVE_callprototype)
        return labelled_list(p, name, directive);
    if (!declare_label(p, name, SYMBOL_LABEL, p->function_labels.count)) return false;
    struct ptx_label *label = list_push(&p->function_labels);
    *label = (struct ptx_label){.name = parser_text(p, name), .instr = p->instrs.count, .place = name->place};
    return true;
}

static bool directive_statement(struct parser *p) {
    uint32_t directive = parser_word(p, IN_DIRECTIVES, &p->token);
    uint8_t linkage = PTX_LINKAGE_NONE;
    if (directive == DIRECTIVE_extern) {
        linkage = PTX_LINKAGE_EXTERN;
        if (!parser_next(p)) return false;
        directive = parser_is(p, TOKEN_DOTTED) ? parser_word(p, IN_DIRECTIVES, &p->token) : PTX_NONE;
        if (directive != DIRECTIVE_shared) return parser_expected(p, "'.shared'");
    }
    static const uint8_t spaces[DIRECTIVE_COUNT] = {[DIRECTIVE_global] = PTX_SPACE_GLOBAL,
                                                    [DIRECTIVE_const] = PTX_SPACE_CONST,
                                                    [DIRECTIVE_shared] = PTX_SPACE_SHARED,
                                                    [DIRECTIVE_local] = PTX_SPACE_LOCAL,
                                                    [DIRECTIVE_param] = PTX_SPACE_PARAM};
    if (directive == DIRECTIVE_reg) return parser_next(p) && parser_registers(p);
    if (directive != PTX_NONE && spaces[directive])
        return parser_next(p) && parser_variables(p, spaces[directive], linkage);
    if (directive == DIRECTIVE_branchtargets || directive == DIRECTIVE_calltargets ||
        directive == DIRECTIVE_callprototype)
        return ptx_error(p->module, p->token.place, p->err, "a target list needs a name; expected 'name:' before it");
    return parser_debug_directive(p, directive);
}

static bool statement(struct parser *p) {
    struct token token = p->token;
    struct ptx_instr instr = {0};
    switch (token.kind) {
    case '@': return parser_next(p) && guarded(p);
    case ';': return parser_next(p);
    case TOKEN_DOTTED: return directive_statement(p);
    case TOKEN_WORD:
        if (!parser_next(p)) return false;
        return parser_is(p, ':') ? labelled(p, &token) : instruction(p, &token, &instr);
    case '{':
        if (p->scopes.count >= LIMIT_SCOPES)
            return ptx_error(p->module, token.place, p->err, "scopes are nested more than %d levels deep",
                             LIMIT_SCOPES);
        scope_open(p);
        return parser_next(p);
    default: return parser_expected(p, "an instruction, a label, a directive or '}'");
    }
}

/* Moves resolved branch targets from the operands to their lists. */
static bool collect_targets(struct parser *p) {
    for (uint32_t i = 0; i < p->targets.count; i++) {
        struct ptx_targets *targets = list_at(&p->targets, i);
        if (targets->kind == PTX_CALL_PROTOTYPE) continue;
        targets->index = arena_alloc(p->module->arena, targets->count, sizeof *targets->index);
        for (uint32_t k = 0; k < targets->count; k++) {
            const struct ptx_operand *operand = list_at(&p->operands, targets->return_count + k);
            if (operand->kind == PTX_OPERAND_TARGETS)
                return ptx_error(p->module, operand->place, p->err, "found a target list, expected a label");
            targets->index[k] = operand->index;
        }
        targets->return_count = 0;
    }
    return true;
}

bool parser_body(struct parser *p, struct ptx_place open) {
    uint32_t outside = p->scopes.count - 1; /* the function's scope is already open */
    for (;;) {
        if (parser_is(p, TOKEN_END)) return ptx_error(p->module, open, p->err, "unterminated function; expected '}'");
        if (!parser_is(p, '}')) {
            if (!statement(p)) return false;
            continue;
        }
        if (!scope_close(p)) return false;
        if (p->scopes.count == outside) return collect_targets(p) && parser_next(p);
        if (!parser_next(p)) return false;
    }
}
