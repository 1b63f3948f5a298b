#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool unknown_directive(struct parser *p) {
    p->newer = true;
    return ptx_error(p->module, p->token.place, p->err, "unknown directive '.%.*s'%s",
                     (int)min_u64(p->token.length, 80), p->token.text, parser_word_hint(p, IN_DIRECTIVES, &p->token));
}

/* n, n, n: one to three numbers. */
static bool triple(struct parser *p, uint32_t value[3]) {
    for (unsigned i = 0; i < 3; i++) {
        uint64_t number;
        if (i > 0 && !parser_is(p, ',')) {
            value[i] = 1;
            continue;
        }
        if (i > 0 && !parser_next(p)) return false;
        if (!parser_integer(p, INT32_MAX, "a number", &number)) return false;
        value[i] = (uint32_t)number;
    }
    return true;
}

/* .loc file line column, function_name label+n, inlined_at file line column */
static bool source_line(struct parser *p) {
    uint64_t number[3];
    for (unsigned i = 0; i < 3; i++)
        if (!parser_integer(p, UINT32_MAX, "a number", &number[i])) return false;
    p->source_file = (uint32_t)number[0];
    p->source_line = (uint32_t)number[1];
    while (parser_is(p, ',')) {
        if (!parser_next(p)) return false;
        if (parser_is_word(p, "function_name")) {
            int64_t offset;
            if (!parser_next(p) || !parser_take(p, TOKEN_WORD, "a label") || !parser_offset(p, &offset)) return false;
        } else if (parser_is_word(p, "inlined_at")) {
            if (!parser_next(p)) return false;
            for (unsigned i = 0; i < 3; i++)
                if (!parser_integer(p, UINT32_MAX, "a number", &number[i])) return false;
        } else {
            return parser_expected(p, "'function_name' or 'inlined_at'");
        }
    }
    return true;
}

/* .file number "name", timestamp, size */
static bool source_file(struct parser *p) {
    uint64_t number;
    if (!parser_integer(p, LIMIT_SOURCE_FILES, "a file's number", &number)) return false;
    if (!parser_is(p, TOKEN_STRING)) return parser_expected(p, "a file's name in quotes");
    while (p->source_files.count <= number) list_push(&p->source_files);
    *(char **)list_at(&p->source_files, (uint32_t)number) = parser_text(p, &p->token);
    if (!parser_next(p)) return false;
    while (parser_is(p, ','))
        if (!parser_next(p) || !parser_take(p, TOKEN_INTEGER, "a number")) return false;
    return true;
}

static bool pragma(struct parser *p) {
    do {
        if (!parser_next(p) || !parser_take(p, TOKEN_STRING, "a string")) return false;
    } while (parser_is(p, ','));
    return parser_take(p, ';', "';'");
}

bool parser_debug_directive(struct parser *p, enum directive directive) {
    switch (directive) {
    case DIRECTIVE_loc: return parser_next(p) && source_line(p);
    case DIRECTIVE_file: return parser_next(p) && source_file(p);
    case DIRECTIVE_pragma: return pragma(p);
    case DIRECTIVE_section:
        if (!parser_next(p)) return false;
        if (!parser_is(p, TOKEN_DOTTED) && !parser_is(p, TOKEN_WORD) && !parser_is(p, TOKEN_STRING))
            return parser_expected(p, "a section's name");
        return parser_next(p) && parser_skip_group(p, '{', '}');
    default: break;
    }
    if ((uint32_t)directive == PTX_NONE) return unknown_directive(p);
    return parser_expected(p, p->function == PTX_NONE ? "a declaration or directive of a module"
                                                      : "a declaration, a directive of a function or an instruction");
}

/* The directives between a function's parameters and its body. */
static bool function_directive(struct parser *p, struct ptx_function *function) {
    uint32_t directive = parser_word(p, IN_DIRECTIVES, &p->token);
    uint64_t number;
    switch (directive) {
    case DIRECTIVE_maxntid: return parser_next(p) && triple(p, function->max_threads);
    case DIRECTIVE_reqntid: return parser_next(p) && triple(p, function->required_threads);
    case DIRECTIVE_reqnctapercluster: return parser_next(p) && triple(p, function->required_cluster);
    case DIRECTIVE_minnctapersm:
        if (!parser_next(p) || !parser_integer(p, INT32_MAX, "a number", &number)) return false;
        function->min_ctas = (uint32_t)number;
        return true;
    case DIRECTIVE_maxnreg:
        if (!parser_next(p) || !parser_integer(p, INT32_MAX, "a number", &number)) return false;
        function->max_registers = (uint32_t)number;
        return true;
    case DIRECTIVE_maxclusterrank:
        if (!parser_next(p) || !parser_integer(p, INT32_MAX, "a number", &number)) return false;
        function->max_cluster_rank = (uint32_t)number;
        return true;
    case DIRECTIVE_maxnctapersm:
    case DIRECTIVE_abi_preserve:
    case DIRECTIVE_abi_preserve_control: return parser_next(p) && parser_integer(p, INT32_MAX, "a number", &number);
    case DIRECTIVE_noreturn: function->noreturn = true; return parser_next(p);
    case DIRECTIVE_explicitcluster: function->explicit_cluster = true; return parser_next(p);
    case DIRECTIVE_blocksareclusters: function->blocks_are_clusters = true; return parser_next(p);
    case DIRECTIVE_unique: return parser_next(p);
    case DIRECTIVE_attribute: return parser_next(p) && parser_skip_group(p, '(', ')');
    default: return parser_debug_directive(p, directive);
    }
}

/* The index of the function: a new one, or that of an earlier declaration. */
static bool function_number(struct parser *p, const struct token *name, bool is_kernel) {
    const struct symbol *known = names_find(&p->names, IN_NAMES, name->text, name->length);
    if (known && known->kind == SYMBOL_FUNCTION) {
        p->function = known->index;
        const struct ptx_function *old = list_at(&p->functions, known->index);
        return old->is_kernel == is_kernel ||
               ptx_error(p->module, name->place, p->err, "'%.80s' is declared as a %s on line %u", old->name,
                         old->is_kernel ? "kernel" : "function", old->place.line);
    }
    p->function = p->functions.count;
    list_push(&p->functions);
    struct ptx_function *function = list_at(&p->functions, p->function);
    function->name = parser_text(p, name);
    function->is_kernel = is_kernel;
    function->place = name->place;
    return parser_declare(p, name, SYMBOL_FUNCTION, p->function);
}

/* Parameters or returns must match those of the earlier declaration. */
static bool same_shape(struct parser *p, const struct ptx_function *old, const char *what, const uint32_t *before,
                       uint32_t before_count, const struct list *now, struct ptx_place place) {
    if (before_count != now->count)
        return ptx_error(p->module, place, p->err, "'%.80s' has %u %ss, but %u where it is declared on line %u",
                         old->name, now->count, what, before_count, old->place.line);
    for (uint32_t i = 0; i < now->count; i++) {
        const struct ptx_variable *a = list_at(&p->variables, before[i]),
                                  *b = list_at(&p->variables, *(uint32_t *)list_at(now, i));
        if (a->size_bytes != b->size_bytes)
            return ptx_error(p->module, b->place, p->err,
                             "%s %u of '%.80s' has %llu bytes, but %llu where it is declared on line %u", what, i + 1,
                             old->name, (unsigned long long)b->size_bytes, (unsigned long long)a->size_bytes,
                             a->place.line);
    }
    return true;
}

static bool function_shape(struct parser *p, struct list *returns, struct list *parameters, struct ptx_place place,
                           bool repeated) {
    struct ptx_function *function = list_at(&p->functions, p->function);
    if (repeated &&
        (!same_shape(p, function, "return", function->returns, function->return_count, returns, place) ||
         !same_shape(p, function, "parameter", function->parameters, function->parameter_count, parameters, place)))
        return false;
    if (function->has_body) return true;          /* redeclaration: the body has its own */
    for (uint32_t i = 0; i < returns->count; i++) /* parsed before the function's name */
        ((struct ptx_variable *)list_at(&p->variables, *(uint32_t *)list_at(returns, i)))->function = p->function;
    function->return_count = returns->count;
    function->returns = list_keep(returns, p->module->arena);
    function->parameter_count = parameters->count;
    function->parameters = list_keep(parameters, p->module->arena);
    return true;
}

static void function_keep(struct parser *p, struct ptx_function *function) {
    struct arena *arena = p->module->arena;
#define KEEP(array, array_count, list) function->array_count = (list).count, function->array = list_keep(&(list), arena)
    KEEP(registers, register_count, p->registers);
    KEEP(instrs, instr_count, p->instrs);
    KEEP(operands, operand_count, p->operands);
    KEEP(labels, label_count, p->function_labels);
    KEEP(targets, target_count, p->targets);
#undef KEEP
}

static bool function_body(struct parser *p, const struct ptx_function *function) {
    struct ptx_place open = p->token.place;
    struct scope *scope = list_push(&p->scopes);
    *scope = (struct scope){.names = p->names.symbols.count, .place = open};
    p->source_file = p->source_line = 0;
    p->unknown = NULL;
    p->newer = false;
    if (!parser_next(p) || !parser_parameters_declare(p, function->returns, function->return_count) ||
        !parser_parameters_declare(p, function->parameters, function->parameter_count) || !parser_body(p, open))
        return false;
    names_release(&p->members, 0);
    return true;
}

/* Turns the error, if it may be a feature that Sluice does not know, into one of the function. */
static bool forgive(struct parser *p, struct ptx_function *function) {
    if (!p->newer) return false;
    if (!function->skipped) function->skipped = arena_text(p->module->arena, p->err->text, strlen(p->err->text));
    p->err->set = p->newer = false;
    return true;
}

/* Reads the body; one with a feature that Sluice does not know is skipped as text, and nothing of it remains. */
static bool function_body_or_text(struct parser *p, struct ptx_function *function) {
    const struct lexer lexer = p->lexer;
    const struct token token = p->token;
    const uint32_t names = p->names.symbols.count, variables = p->variables.count, registers = p->registers.count;
    if (function_body(p, function)) return true;
    if (!forgive(p, function)) return false;
    p->lexer = lexer;
    p->token = token;
    names_release(&p->names, names);
    names_release(&p->labels, 0);
    names_release(&p->members, 0);
    if (p->reserved != PTX_NONE && p->reserved >= variables) p->reserved = PTX_NONE;
    p->variables.count = variables;
    p->registers.count = registers;
    p->unknown = NULL;
    p->depth = 0;
    p->scopes.count = p->pending.count = p->stack.count = 0;
    p->instrs.count = p->operands.count = p->function_labels.count = p->targets.count = 0;
    return parser_skip_group(p, '{', '}');
}

/* Whether the next statement of the module begins here. */
static bool starts_declaration(const struct parser *p) {
    if (!parser_is(p, TOKEN_DOTTED)) return false;
    switch (parser_word(p, IN_DIRECTIVES, &p->token)) {
    case DIRECTIVE_visible:
    case DIRECTIVE_extern:
    case DIRECTIVE_weak:
    case DIRECTIVE_common:
    case DIRECTIVE_entry:
    case DIRECTIVE_func:
    case DIRECTIVE_global:
    case DIRECTIVE_tex:
    case DIRECTIVE_const:
    case DIRECTIVE_shared:
    case DIRECTIVE_local: return true;
    default: return false;
    }
}

/* From the directives after the parameters to the end of the body, or ';'. The semicolon of a function's prototype may be
 * missing. */
static bool function_rest(struct parser *p) {
    struct ptx_function function = *(struct ptx_function *)list_at(&p->functions, p->function);
    while (parser_is(p, TOKEN_DOTTED) && !starts_declaration(p)) {
        p->newer = false;
        if (function_directive(p, &function)) continue;
        if (!forgive(p, &function)) return false;
        do { /* the directive and its arguments */
            if (!parser_next(p)) return false;
        } while (!parser_is(p, TOKEN_DOTTED) && !parser_is(p, '{') && !parser_is(p, ';') && !parser_is(p, TOKEN_END));
    }
    if (parser_is(p, '{')) {
        if (function.has_body)
            return ptx_error(p->module, p->token.place, p->err, "'%.80s' already has a body, on line %u", function.name,
                             function.place.line);
        if (!function_body_or_text(p, &function)) return false;
        function.has_body = true;
        function.unknown = p->unknown;
        function.unknown_instr = p->unknown_instr;
        function_keep(p, &function);
    } else {
        bool open = function.is_kernel || !(parser_is(p, TOKEN_END) || starts_declaration(p));
        if (open && !parser_take(p, ';', "'{', ';' or a directive")) return false;
        if (!function.has_body) function_keep(p, &function);
    }
    *(struct ptx_function *)list_at(&p->functions, p->function) = function;
    return true;
}

/* After .entry or .func. */
static bool function_read(struct parser *p, bool is_kernel, uint8_t linkage) {
    struct list returns = {.item_bytes = sizeof(uint32_t)}, parameters = {.item_bytes = sizeof(uint32_t)};
    struct token name;
    uint32_t known = p->functions.count;
    bool ok = true;
    p->registers.count = 0;
    while (ok && parser_is(p, TOKEN_DOTTED)) {
        struct ptx_function ignored = {0};
        ok = function_directive(p, &ignored);
    }
    if (ok && parser_is(p, '('))
        ok = is_kernel ? parser_expected(p, "a kernel's name") : parser_parameters(p, &returns, true);
    name = p->token;
    ok = ok && parser_take(p, TOKEN_WORD, is_kernel ? "a kernel's name" : "a function's name") &&
         function_number(p, &name, is_kernel) && (!parser_is(p, '(') || parser_parameters(p, &parameters, false)) &&
         function_shape(p, &returns, &parameters, name.place, p->functions.count == known);
    list_free(&returns);
    list_free(&parameters);
    if (!ok) return false;
    struct ptx_function *function = list_at(&p->functions, p->function);
    if (function->linkage == PTX_LINKAGE_NONE || function->linkage == PTX_LINKAGE_EXTERN) function->linkage = linkage;
    if (!function_rest(p)) return false;
    p->function = PTX_NONE;
    return true;
}

/* .alias a, b; calls of a execute b. Both are stored as two operands until the whole module is read. */
static bool alias(struct parser *p) {
    for (unsigned i = 0; i < 2; i++) {
        struct token name = p->token;
        if (!parser_take(p, TOKEN_WORD, "a function's name")) return false;
        const struct symbol *symbol = names_find(&p->names, IN_NAMES, name.text, name.length);
        if (!symbol || symbol->kind != SYMBOL_FUNCTION)
            return ptx_error(p->module, name.place, p->err, "unknown function '%.*s'%s", (int)min_u64(name.length, 80),
                             name.text, parser_name_hint(p, &p->names, &name));
        struct ptx_operand *operand = list_push(&p->aliases);
        operand->index = symbol->index;
        operand->place = name.place;
        if (!(i == 0 ? parser_take(p, ',', "','") : parser_take(p, ';', "';'"))) return false;
    }
    return true;
}

/* The module may be newer than Sluice. Only the first warning is kept. */
static void __attribute__((format(printf, 2, 3))) warn(struct parser *p, const char *format, ...) {
    char what[200];
    va_list args;
    if (p->module->warning) return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    char *text = text_format("%s:%u:%u: %s; instructions that it does not know are not executed", p->module->file,
                             p->token.place.line, p->token.place.column, what);
    p->module->warning = arena_text(p->module->arena, text, strlen(text));
    free(text);
}

/* .version 8.0, after the directive */
static bool version(struct parser *p) {
    struct ptx_module *module = p->module;
    char text[32];
    if (!parser_is(p, TOKEN_FLOAT)) return parser_expected(p, "a version, such as 7.0");
    snprintf(text, sizeof text, "%.*s", (int)min_u64(p->token.length, 31), p->token.text);
    if (sscanf(text, "%3u.%3u", &module->version_major, &module->version_minor) != 2)
        return parser_expected(p, "a version, such as 7.0");
    if (module->version_major == 0) return parser_expected(p, "a version, such as 7.0");
    if (module->version_major > KNOWN_MAJOR ||
        (module->version_major == KNOWN_MAJOR && module->version_minor > KNOWN_MINOR))
        warn(p, "PTX %u.%u is newer than %d.%d, the newest version that Sluice knows", module->version_major,
             module->version_minor, KNOWN_MAJOR, KNOWN_MINOR);
    return parser_next(p);
}

/* sm_N, with `a` or `f` for features of one architecture or family. */
static bool target_is_known(const char *target) {
    static const uint8_t known[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                                    70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
    char *end;
    unsigned long number = strtoul(target + 3, &end, 10);
    bool found = false;
    for (unsigned i = 0; i < COUNT_OF(known); i++) found |= known[i] == number;
    return found && (*end == '\0' || ((*end == 'a' || *end == 'f') && number >= 90 && end[1] == '\0'));
}

/* .target sm_70, texmode_independent, debug */
static bool target(struct parser *p) {
    struct token name = p->token;
    if (!parser_is(p, TOKEN_WORD) || name.length < 4 || strncmp(name.text, "sm_", 3) != 0)
        return parser_expected(p, "a target, such as sm_70");
    snprintf(p->module->target, sizeof p->module->target, "%.*s", (int)min_u64(name.length, 31), name.text);
    if (!target_is_known(p->module->target)) warn(p, "the target %s is not one that Sluice knows", p->module->target);
    if (!parser_next(p)) return false;
    while (parser_is(p, ','))
        if (!parser_next(p) || !parser_take(p, TOKEN_WORD, "an option of the target")) return false;
    return true;
}

static bool address_size(struct parser *p) {
    struct ptx_place place = p->token.place;
    uint64_t bits;
    if (!parser_integer(p, 64, "32 or 64", &bits)) return false;
    if (bits != 32 && bits != 64)
        return ptx_error(p->module, place, p->err, "an address size of %u bits; expected 32 or 64", (unsigned)bits);
    p->module->address_bits = (unsigned)bits;
    return true;
}

/* A variable or function, starting with its linkage. */
/* .tex .u64 name, in PTX before 1.5: .global .texref name. */
static bool texture_references(struct parser *p, uint8_t linkage) {
    uint32_t first = p->variables.count;
    if (!parser_variables(p, PTX_SPACE_GLOBAL, linkage)) return false;
    for (uint32_t i = first; i < p->variables.count; i++) {
        struct ptx_variable *variable = list_at(&p->variables, i);
        if (variable->size_bytes > ptx_type_bytes(variable->type))
            return ptx_error(p->module, variable->place, p->err, "found an array, expected a texture");
        variable->type = PTX_texref;
        variable->size_bytes = variable->align_bytes = ptx_type_bytes(PTX_texref);
        variable->initial = NULL;
        variable->relocation_count = 0;
    }
    return true;
}

static bool declaration(struct parser *p) {
    uint8_t linkage = PTX_LINKAGE_NONE;
    if (p->module->target[0] == '\0') return parser_expected(p, "'.target' before the first declaration");
    for (;;) {
        uint32_t directive = parser_is(p, TOKEN_DOTTED) ? parser_word(p, IN_DIRECTIVES, &p->token) : PTX_NONE;
        switch (directive) {
        case DIRECTIVE_visible: linkage = PTX_LINKAGE_VISIBLE; break;
        case DIRECTIVE_extern: linkage = PTX_LINKAGE_EXTERN; break;
        case DIRECTIVE_weak: linkage = PTX_LINKAGE_WEAK; break;
        case DIRECTIVE_common: linkage = PTX_LINKAGE_COMMON; break;
        case DIRECTIVE_entry: return parser_next(p) && function_read(p, true, linkage);
        case DIRECTIVE_func: return parser_next(p) && function_read(p, false, linkage);
        case DIRECTIVE_global: return parser_next(p) && parser_variables(p, PTX_SPACE_GLOBAL, linkage);
        case DIRECTIVE_tex: return parser_next(p) && texture_references(p, linkage);
        case DIRECTIVE_const: return parser_next(p) && parser_variables(p, PTX_SPACE_CONST, linkage);
        case DIRECTIVE_shared: return parser_next(p) && parser_variables(p, PTX_SPACE_SHARED, linkage);
        case DIRECTIVE_local: return parser_next(p) && parser_variables(p, PTX_SPACE_LOCAL, linkage);
        default: return parser_expected(p, "'.entry', '.func' or a variable's space");
        }
        if (!parser_next(p)) return false;
    }
}

static bool module_statement(struct parser *p) {
    if (parser_is(p, '@')) { /* @@DWARF: debug information of old compilers, line by line */
        lexer_skip_line(&p->lexer);
        return parser_next(p);
    }
    if (parser_is(p, ';')) return parser_next(p);
    if (!parser_is(p, TOKEN_DOTTED)) return parser_expected(p, "a directive, such as '.entry'");
    uint32_t directive = parser_word(p, IN_DIRECTIVES, &p->token);
    switch (directive) {
    case DIRECTIVE_version: return parser_next(p) && version(p);
    case DIRECTIVE_target: return parser_next(p) && target(p);
    case DIRECTIVE_address_size: return parser_next(p) && address_size(p);
    case DIRECTIVE_alias: return parser_next(p) && alias(p);
    default: return starts_declaration(p) ? declaration(p) : parser_debug_directive(p, directive);
    }
}

/* References to an alias refer to its function. */
static bool resolve_aliases(struct parser *p) {
    struct ptx_module *module = p->module;
    uint32_t *behind = mem_alloc(module->function_count, sizeof *behind);
    bool ok = true;
    for (uint32_t i = 0; i < module->function_count; i++) behind[i] = i;
    for (uint32_t i = 0; ok && i < p->aliases.count; i += 2) {
        const struct ptx_operand *name = list_at(&p->aliases, i), *meant = list_at(&p->aliases, i + 1);
        if (!module->functions[meant->index].has_body)
            ok = ptx_error(module, meant->place, p->err,
                           "'%.80s' has no body; an alias must refer to a function with a body",
                           module->functions[meant->index].name);
        if (module->functions[name->index].has_body)
            ok = ptx_error(module, name->place, p->err, "'%.80s' has a body; an alias must not have one",
                           module->functions[name->index].name);
        behind[name->index] = meant->index;
    }
    for (uint32_t i = 0; ok && i < module->function_count; i++) {
        struct ptx_function *function = &module->functions[i];
        for (uint32_t k = 0; k < function->operand_count; k++)
            if (function->operands[k].kind == PTX_OPERAND_FUNCTION)
                function->operands[k].index = behind[function->operands[k].index];
        for (uint32_t k = 0; k < function->target_count; k++)
            for (uint32_t j = 0; function->targets[k].kind == PTX_CALL_TARGETS && j < function->targets[k].count; j++)
                function->targets[k].index[j] = behind[function->targets[k].index[j]];
    }
    for (uint32_t i = 0; ok && i < module->variable_count; i++)
        for (uint32_t k = 0; k < module->variables[i].relocation_count; k++) {
            struct ptx_relocation *relocation = &module->variables[i].relocations[k];
            if (relocation->is_function) relocation->index = behind[relocation->index];
        }
    free(behind);
    return ok;
}

static bool module_read(struct parser *p) {
    struct ptx_module *module = p->module;
    if (module->text_bytes > LIMIT_TEXT_BYTES)
        return ptx_error(module, (struct ptx_place){1, 1, 0}, p->err, "the module is larger than 1 GiB");
    if (!parser_next(p)) return false;
    if (!parser_is(p, TOKEN_DOTTED) || parser_word(p, IN_DIRECTIVES, &p->token) != DIRECTIVE_version)
        return parser_expected(p, "'.version', the first directive of a PTX module");
    while (!parser_is(p, TOKEN_END))
        if (!module_statement(p)) return false;
    if (module->target[0] == '\0') return parser_expected(p, "'.target'");
    module->variable_count = p->variables.count;
    module->variables = list_keep(&p->variables, module->arena);
    module->function_count = p->functions.count;
    module->functions = list_keep(&p->functions, module->arena);
    module->source_file_count = p->source_files.count;
    module->source_files = list_keep(&p->source_files, module->arena);
    return p->aliases.count == 0 || resolve_aliases(p);
}

struct ptx_module *ptx_parse(const char *file, const char *text, size_t bytes, struct error *err) {
    struct arena *arena = arena_create();
    struct ptx_module *module = arena_alloc(arena, 1, sizeof *module);
    *module = (struct ptx_module){.file = arena_text(arena, file, strlen(file)),
                                  .text = arena_text(arena, bytes ? text : "", bytes),
                                  .text_bytes = bytes,
                                  .address_bits = 32, /* unless .address_size follows */
                                  .arena = arena};
    struct parser p;
    parser_init(&p, module, err);
    bool ok = module_read(&p);
    parser_free(&p);
    if (ok) return module;
    ptx_module_destroy(module);
    return NULL;
}
