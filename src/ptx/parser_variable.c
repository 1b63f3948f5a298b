/* Declarations of a module or function: registers, variables of every space, parameters. Initialisers are converted to
 * bytes here; addresses of symbols stay relocations until layout. */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

bool parser_declare(struct parser *p, const struct token *name, uint8_t kind, uint32_t index) {
    const struct symbol *known = names_find(&p->names, IN_NAMES, name->text, name->length);
    uint32_t scope = p->scopes.count > 0 ? ((const struct scope *)list_at(&p->scopes, p->scopes.count - 1))->names : 0;
    if (known && known->kind == SYMBOL_SPECIAL)
        return ptx_error(p->module, name->place, p->err, "'%.*s' is a special register; expected another name",
                         (int)min_u64(name->length, 80), name->text);
    if (known && names_position(&p->names, known) >= scope)
        return ptx_error(p->module, name->place, p->err, "'%.*s' is already declared on line %u",
                         (int)min_u64(name->length, 80), name->text, known->place.line);
    struct symbol *symbol = names_add(&p->names, IN_NAMES, name->text, name->length);
    symbol->kind = kind;
    symbol->index = index;
    symbol->place = name->place;
    return true;
}

/* The words between a declaration's space and its name. */
struct shape {
    uint8_t type, vector;
    uint32_t align_bytes;
    bool is_pointer;
};

static bool shape_align(struct parser *p, uint32_t *align_bytes) {
    struct ptx_place place = p->token.place;
    uint64_t value;
    if (!parser_integer(p, LIMIT_ALIGN, "an alignment in bytes", &value)) return false;
    if (!is_power_of_two(value))
        return ptx_error(p->module, place, p->err, "alignment %llu is not a power of two", (unsigned long long)value);
    *align_bytes = (uint32_t)value;
    return true;
}

/* One dotted word; *known is false if it is not part of a shape. */
static bool shape_word(struct parser *p, struct shape *shape, bool *known) {
    uint32_t directive = parser_word(p, IN_DIRECTIVES, &p->token);
    uint32_t modifier = parser_word(p, IN_MODIFIERS, &p->token);
    unsigned class = modifier == PTX_NONE ? PTX_CLASS_OTHER : ptx_modifier_class(modifier);
    uint32_t pointee_align;
    *known = true;
    if (directive == DIRECTIVE_align)
        return parser_next(p) && shape_align(p, shape->is_pointer ? &pointee_align : &shape->align_bytes);
    if (directive == DIRECTIVE_attribute) return parser_next(p) && parser_skip_group(p, '(', ')');
    if (directive == DIRECTIVE_ptr) {
        shape->is_pointer = true;
    } else if (class == PTX_CLASS_TYPE && shape->type == PTX_TYPE_COUNT) {
        shape->type = (uint8_t)ptx_modifier_value(modifier);
    } else if (class == PTX_CLASS_VECTOR && shape->vector == 0 && ptx_modifier_value(modifier) <= 4) {
        shape->vector = (uint8_t)ptx_modifier_value(modifier);
    } else if (class != PTX_CLASS_SPACE || !shape->is_pointer) { /* .ptr .global: the space of its target */
        *known = false;
        return true;
    }
    return parser_next(p);
}

static bool shape_read(struct parser *p, struct shape *shape) {
    *shape = (struct shape){.type = PTX_TYPE_COUNT};
    bool known = true;
    while (parser_is(p, TOKEN_DOTTED)) {
        if (!shape_word(p, shape, &known)) return false;
        if (known) continue;
        const char *near = parser_word_hint(p, IN_MODIFIERS, &p->token);
        p->newer = shape->type == PTX_TYPE_COUNT;
        return ptx_error(p->module, p->token.place, p->err, "found '.%.*s', expected %s%s",
                         (int)min_u64(p->token.length, 80), p->token.text,
                         shape->type == PTX_TYPE_COUNT ? "a type" : "a name", near);
    }
    return shape->type != PTX_TYPE_COUNT || parser_expected(p, "a type, such as '.b32'");
}

static uint32_t add_register(struct parser *p, const struct token *name, const struct shape *shape) {
    struct ptx_register *reg = list_push(&p->registers);
    *reg = (struct ptx_register){
        .name = parser_text(p, name), .type = shape->type, .vector = shape->vector, .place = name->place};
    return p->registers.count - 1;
}

/* stem<count>, starting at the '<'. */
static bool register_range(struct parser *p, const struct token *stem, const struct shape *shape) {
    uint64_t count;
    if (!parser_next(p) || !parser_integer(p, LIMIT_REGISTERS, "a number of registers", &count) ||
        !parser_take(p, '>', "'>'"))
        return false;
    const struct symbol *known = names_find(&p->names, IN_RANGES, stem->text, stem->length);
    const struct scope *scope = list_at(&p->scopes, p->scopes.count - 1);
    if (known && names_position(&p->names, known) >= scope->names)
        return ptx_error(p->module, stem->place, p->err, "registers '%.*s<...>' are already declared on line %u",
                         (int)min_u64(stem->length, 80), stem->text, known->place.line);
    struct symbol *symbol = names_add(&p->names, IN_RANGES, stem->text, stem->length);
    symbol->kind = SYMBOL_RANGE;
    symbol->index = p->ranges.count;
    symbol->place = stem->place;
    struct range *range = list_push(&p->ranges);
    *range =
        (struct range){.count = (uint32_t)count, .type = shape->type, .vector = shape->vector, .place = stem->place};
    return true;
}

/* After `.reg`. */
bool parser_registers(struct parser *p) {
    struct shape shape;
    if (!shape_read(p, &shape)) return false;
    if (ptx_type_kind(shape.type) == PTX_OPAQUE)
        return ptx_error(p->module, p->token.place, p->err, "a register cannot have type .%s",
                         ptx_type_name(shape.type));
    for (;;) {
        struct token name = p->token;
        bool bare = parser_is(p, '%'); /* %<9>: the registers %0 to %8 */
        if (!(bare ? parser_next(p) : parser_take(p, TOKEN_WORD, "a register's name"))) return false;
        if (bare && !parser_is(p, '<')) return parser_expected(p, "'<'");
        bool ok = parser_is(p, '<') ? register_range(p, &name, &shape)
                                    : parser_declare(p, &name, SYMBOL_REGISTER, p->registers.count);
        if (!ok) return false;
        const struct symbol *newest = list_at(&p->names.symbols, p->names.symbols.count - 1);
        if (newest->kind == SYMBOL_REGISTER) add_register(p, &name, &shape);
        if (!parser_is(p, ',')) return parser_take(p, ';', "',' or ';'");
        if (!parser_next(p)) return false;
    }
}

/* The dimensions of an array; a vector's elements are the innermost. The first dimension may be empty. */
struct extents {
    uint64_t bytes[LIMIT_DIMENSIONS + 3]; /* of one element of each level: [0] is the whole array, the last a scalar */
    unsigned levels;
    bool open;
};

static bool extents_read(struct parser *p, const struct shape *shape, struct extents *extents) {
    uint64_t length[LIMIT_DIMENSIONS + 1];
    unsigned count = 0;
    struct ptx_place place = p->token.place;
    *extents = (struct extents){0};
    while (parser_is(p, '[')) {
        int64_t value = 0;
        if (count == LIMIT_DIMENSIONS)
            return ptx_error(p->module, p->token.place, p->err, "an array must have at most %d dimensions",
                             LIMIT_DIMENSIONS);
        if (!parser_next(p)) return false;
        struct ptx_place at = p->token.place;
        if (parser_is(p, ']') && count == 0)
            extents->open = true;
        else if (!parser_integer_expression(p, &value))
            return false;
        if (value < 0) return ptx_error(p->module, at, p->err, "an array cannot have %lld elements", (long long)value);
        length[count++] = (uint64_t)value;
        if (!parser_take(p, ']', "']'")) return false;
    }
    if (shape->vector) length[count++] = shape->vector;
    extents->levels = count;
    extents->bytes[count] = ptx_type_bytes(shape->type);
    for (unsigned i = count; i-- > 0;)
        if (__builtin_mul_overflow(extents->bytes[i + 1], length[i], &extents->bytes[i]) ||
            extents->bytes[i] > LIMIT_VARIABLE_BYTES)
            return ptx_error(p->module, place, p->err, "an array must not exceed 4 GiB");
    return true;
}

/* The bytes of a variable while its initialiser is read. */
struct image {
    const struct shape *shape;
    const struct extents *extents;
    uint8_t *bytes;
    uint64_t used, capacity, limit;
    struct list relocations;
};

/* Space for `bytes` at `offset`; NULL, without an error, beyond the limit of initialisers. */
static uint8_t *image_room(struct image *image, uint64_t offset, uint64_t bytes) {
    uint64_t end = offset + bytes;
    if (end > image->limit) return NULL;
    if (end > image->capacity) {
        image->capacity = min_u64(image->limit, 2 * end + 64);
        image->bytes = mem_grow(image->bytes, image->capacity, 1);
    }
    if (end > image->used) {
        memset(image->bytes + image->used, 0, end - image->used);
        image->used = end;
    }
    return image->bytes + offset;
}

static bool too_much(struct parser *p, struct ptx_place place) {
    return ptx_error(p->module, place, p->err, "the module's initialised variables exceed %d MiB in total",
                     INITIAL_BYTES_ALWAYS >> 20);
}

static bool scalar_value(struct parser *p, struct image *image, uint64_t offset, const struct constant *value,
                         struct ptx_place place) {
    enum ptx_type type = image->shape->type;
    unsigned bytes = ptx_type_bytes(type);
    uint64_t bits = value->bits;
    if (ptx_type_kind(type) == PTX_FLOAT && bytes >= 4) {
        double wide = constant_double(value);
        float narrow = (float)wide;
        if (type == PTX_f64)
            memcpy(&bits, &wide, sizeof wide);
        else if (!value->single)
            memcpy(&bits, &narrow, sizeof narrow);
    } else if (value->is_float && bytes != (value->single ? 4 : 8)) {
        return ptx_error(p->module, place, p->err, "found a float, expected a value of type .%s", ptx_type_name(type));
    } else if (!value->is_float && bytes < 8) {
        int64_t number = (int64_t)bits;
        if (number < -(INT64_C(1) << (8 * bytes - 1)) || number > (int64_t)low_mask(8 * bytes))
            return ptx_error(p->module, place, p->err, "%lld does not fit in .%s", (long long)number,
                             ptx_type_name(type));
    }
    if (bits == 0) return true; /* unwritten bytes are zero */
    uint8_t *room = image_room(image, offset, bytes);
    if (!room) return too_much(p, place);
    memcpy(room, &bits, bytes < 8 ? bytes : 8);
    if (bytes == 16 && !value->is_unsigned && (int64_t)bits < 0) memset(room + 8, 0xFF, 8);
    return true;
}

/* symbol, symbol+offset, generic(symbol), generic(symbol+offset)+offset: the address, as a relocation. */
static bool address_of(struct parser *p, struct ptx_relocation *relocation) {
    *relocation = (struct ptx_relocation){0};
    int64_t inner = 0, outer;
    struct token name = p->token;
    if (!parser_take(p, TOKEN_WORD, "a variable or function")) return false;
    if (parser_is(p, '(') && name.length == 7 && memcmp(name.text, "generic", 7) == 0) {
        relocation->generic = true;
        if (!parser_next(p)) return false;
        name = p->token;
        if (!parser_take(p, TOKEN_WORD, "a variable or function") || !parser_offset(p, &inner) ||
            !parser_take(p, ')', "')'"))
            return false;
    }
    if (!parser_offset(p, &outer)) return false;
    const struct symbol *symbol = names_find(&p->names, IN_NAMES, name.text, name.length);
    if (!symbol || (symbol->kind != SYMBOL_VARIABLE && symbol->kind != SYMBOL_FUNCTION))
        return ptx_error(p->module, name.place, p->err, "'%.*s' is not a variable or function declared above%s",
                         (int)min_u64(name.length, 80), name.text, parser_name_hint(p, &p->names, &name));
    relocation->index = symbol->index;
    relocation->is_function = symbol->kind == SYMBOL_FUNCTION;
    relocation->addend = (int64_t)((uint64_t)inner + (uint64_t)outer);
    return true;
}

/* Bytes of an address, as in 0xFF(x), 0xFF00(x), ...: the lowest starts a relocation, consecutive ones extend it. */
static bool masked_part(struct parser *p, struct image *image, uint64_t offset, uint64_t mask,
                        struct ptx_relocation *part, struct ptx_place place) {
    unsigned bytes = ptx_type_bytes(image->shape->type), from = mask == 0 ? 0 : lowest_bit(mask) / 8;
    if (mask != low_mask(8 * bytes) << 8 * from || from % bytes != 0)
        return ptx_error(p->module, place, p->err, "the mask does not select %u bytes for a .%s", bytes,
                         ptx_type_name(image->shape->type));
    if (from == 0) {
        part->bytes = (uint8_t)bytes;
        *(struct ptx_relocation *)list_push(&image->relocations) = *part;
        return true;
    }
    struct ptx_relocation *last =
        image->relocations.count > 0 ? list_at(&image->relocations, image->relocations.count - 1) : NULL;
    if (!last || last->offset + from != offset || last->bytes != from || last->index != part->index ||
        last->is_function != part->is_function || last->generic != part->generic || last->addend != part->addend)
        return ptx_error(p->module, place, p->err, "bytes of an address must be consecutive, starting with the lowest");
    last->bytes = (uint8_t)(from + bytes);
    return true;
}

static bool scalar(struct parser *p, struct image *image, uint64_t offset) {
    struct ptx_place place = p->token.place;
    struct ptx_relocation relocation = {0};
    unsigned bytes = ptx_type_bytes(image->shape->type);
    if (parser_is(p, TOKEN_WORD) && !parser_is_word(p, "WARP_SZ")) {
        if (!address_of(p, &relocation)) return false;
        if ((bytes != 4 && bytes != 8) || ptx_type_kind(image->shape->type) == PTX_FLOAT)
            return ptx_error(p->module, place, p->err, "an address does not fit in .%s",
                             ptx_type_name(image->shape->type));
        relocation.offset = offset;
        relocation.bytes = (uint8_t)bytes;
        if (!image_room(image, offset, bytes)) return too_much(p, place);
        *(struct ptx_relocation *)list_push(&image->relocations) = relocation;
        return true;
    }
    struct constant value;
    if (!parser_expression(p, &value)) return false;
    if (!parser_is(p, '(')) return scalar_value(p, image, offset, &value, place);
    if (value.is_float || bytes > 8) return ptx_error(p->module, place, p->err, "expected a mask of bytes");
    if (!parser_next(p) || !address_of(p, &relocation) || !parser_take(p, ')', "')'")) return false;
    if (!image_room(image, offset, bytes)) return too_much(p, place);
    relocation.offset = offset;
    return masked_part(p, image, offset, value.bits, &relocation, place);
}

/* {a, b, {c, d}, ...} of one level, from `offset`; *end is the position of the next. Inner braces of an array may be
 * omitted. */
static bool braces(struct parser *p, struct image *image, unsigned level, uint64_t offset, uint64_t *end) {
    const struct extents *extents = image->extents;
    uint64_t at = offset, limit = level == 0 && extents->open ? LIMIT_VARIABLE_BYTES : offset + extents->bytes[level];
    if (!parser_next(p)) return false;
    while (!parser_is(p, '}')) {
        bool nested = parser_is(p, '{');
        if (nested && level + 1 > extents->levels) return parser_expected(p, "a value");
        uint64_t bytes = extents->bytes[nested ? level + 1 : extents->levels], unused;
        if (bytes > limit - at) return ptx_error(p->module, p->token.place, p->err, "more values than elements");
        if (nested && (at - offset) % (bytes ? bytes : 1) != 0) return parser_expected(p, "a value");
        if (!(nested ? braces(p, image, level + 1, at, &unused) : scalar(p, image, at))) return false;
        at += bytes;
        if (parser_is(p, '}')) break;
        if (!parser_take(p, ',', "',' or '}'")) return false;
    }
    *end = at;
    return parser_next(p);
}

static uint64_t initial_limit(const struct parser *p) {
    uint64_t all = INITIAL_BYTES_ALWAYS + (uint64_t)p->module->text_bytes * INITIAL_BYTES_PER_BYTE;
    return all - p->initial_bytes;
}

/* After the '='. */
static bool initialiser(struct parser *p, struct ptx_variable *variable, const struct shape *shape,
                        const struct extents *extents) {
    struct ptx_place place = p->token.place;
    struct image image = {
        .shape = shape,
        .extents = extents,
        .limit = min_u64(initial_limit(p), extents->open ? LIMIT_VARIABLE_BYTES : variable->size_bytes),
        .relocations = {.item_bytes = sizeof(struct ptx_relocation)},
    };
    if (ptx_type_kind(shape->type) == PTX_OPAQUE) return parser_skip_group(p, '{', '}');
    uint64_t end = 0;
    bool ok = parser_is(p, '{') ? braces(p, &image, 0, 0, &end)
              : extents->levels ? parser_expected(p, "'{'")
                                : scalar(p, &image, 0);
    if (ok && extents->open) variable->size_bytes = end;
    if (ok && image.used > 0) { /* otherwise all bytes are zero */
        if (variable->size_bytes > initial_limit(p)) {
            ok = too_much(p, place);
        } else {
            p->initial_bytes += variable->size_bytes;
            variable->initial = arena_alloc(p->module->arena, variable->size_bytes, 1);
            memcpy(variable->initial, image.bytes, image.used);
            variable->relocation_count = image.relocations.count;
            variable->relocations = list_keep(&image.relocations, p->module->arena);
        }
    }
    free(image.bytes);
    free(image.relocations.data);
    return ok;
}

/* The index of an earlier declaration of an extern or common variable, or PTX_NONE. */
static uint32_t declared_before(const struct parser *p, const struct token *name, const struct ptx_variable *variable) {
    const struct symbol *known = names_find(&p->names, IN_NAMES, name->text, name->length);
    if (!known || known->kind != SYMBOL_VARIABLE || p->function != PTX_NONE) return PTX_NONE;
    const struct ptx_variable *old = list_at(&p->variables, known->index);
    bool repeats =
        old->linkage == PTX_LINKAGE_EXTERN || variable->linkage == PTX_LINKAGE_EXTERN ||
        (old->linkage == variable->linkage && (old->linkage == PTX_LINKAGE_COMMON || old->linkage == PTX_LINKAGE_WEAK));
    return repeats && old->space == variable->space ? known->index : PTX_NONE;
}

static bool dimensioned(struct parser *p, const struct shape *shape, struct ptx_variable *variable,
                        struct extents *extents) {
    if (shape->type == PTX_pred)
        return ptx_error(p->module, variable->place, p->err,
                         "a predicate cannot be in memory; declare it as a register");
    if (!extents_read(p, shape, extents)) return false;
    variable->size_bytes = extents->bytes[0];
    variable->unsized = extents->open;
    variable->align_bytes = shape->align_bytes;
    if (variable->align_bytes == 0)
        variable->align_bytes = ptx_type_bytes(shape->type) * (shape->vector ? shape->vector : 1);
    return true;
}

static bool variable_read(struct parser *p, const struct shape *shape, uint8_t space, uint8_t linkage) {
    struct token name = p->token;
    if (!parser_take(p, TOKEN_WORD, "a name")) return false;
    struct extents extents;
    struct ptx_variable variable = {.name = parser_text(p, &name),
                                    .space = space,
                                    .type = shape->type,
                                    .linkage = linkage,
                                    .function = p->function,
                                    .register_index = PTX_NONE,
                                    .place = name.place};
    if (!dimensioned(p, shape, &variable, &extents)) return false;
    uint32_t index = declared_before(p, &name, &variable);
    if (index == PTX_NONE) { /* its initialiser may refer to it */
        index = p->variables.count;
        if (!parser_declare(p, &name, SYMBOL_VARIABLE, index)) return false;
        *(struct ptx_variable *)list_push(&p->variables) = variable;
    }
    if (parser_is(p, '=')) {
        if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
            return ptx_error(p->module, p->token.place, p->err,
                             "only variables in .global and .const space can have an initialiser");
        if (!parser_next(p) || !initialiser(p, &variable, shape, &extents)) return false;
        variable.unsized = false;
    }
    if (variable.unsized && linkage != PTX_LINKAGE_EXTERN && space != PTX_SPACE_PARAM)
        return ptx_error(p->module, name.place, p->err,
                         "an array without a length must be .extern or have an initialiser");
    struct ptx_variable *entry = list_at(&p->variables, index);
    if (linkage != PTX_LINKAGE_EXTERN || entry->linkage == PTX_LINKAGE_EXTERN) *entry = variable;
    return true;
}

/* After the space. */
bool parser_variables(struct parser *p, uint8_t space, uint8_t linkage) {
    struct shape shape;
    if (parser_is(p, '[') && !parser_skip_group(p, '[', ']')) return false; /* .const[2]: a bank, in old PTX */
    if (!shape_read(p, &shape)) return false;
    for (;;) {
        if (!variable_read(p, &shape, space, linkage)) return false;
        if (!parser_is(p, ',')) return parser_take(p, ';', "',' or ';'");
        if (!parser_next(p)) return false;
    }
}

static bool parameter(struct parser *p, struct list *list, bool is_return) {
    uint32_t directive = parser_is(p, TOKEN_DOTTED) ? parser_word(p, IN_DIRECTIVES, &p->token) : PTX_NONE;
    if (directive != DIRECTIVE_param && directive != DIRECTIVE_reg) return parser_expected(p, "'.param' or '.reg'");
    bool in_register = directive == DIRECTIVE_reg;
    struct shape shape;
    struct extents extents;
    if (!parser_next(p) || !shape_read(p, &shape)) return false;
    struct token name = p->token;
    if (!parser_take(p, TOKEN_WORD, "a parameter's name")) return false;
    struct ptx_variable variable = {.name = parser_text(p, &name),
                                    .space = in_register ? PTX_SPACE_GENERIC : PTX_SPACE_PARAM,
                                    .type = shape.type,
                                    .is_parameter = !is_return,
                                    .is_return = is_return,
                                    .function = p->function,
                                    .register_index = PTX_NONE,
                                    .place = name.place};
    if (in_register) {
        variable.register_index = add_register(p, &name, &shape);
        variable.align_bytes = ptx_type_bytes(shape.type);
        variable.size_bytes = variable.align_bytes * (shape.vector ? shape.vector : 1u);
    } else if (!dimensioned(p, &shape, &variable, &extents)) {
        return false;
    }
    *(uint32_t *)list_push(list) = p->variables.count;
    *(struct ptx_variable *)list_push(&p->variables) = variable;
    return true;
}

bool parser_parameters(struct parser *p, struct list *list, bool is_return) {
    if (!parser_take(p, '(', "'('")) return false;
    while (!parser_is(p, ')')) {
        if (!parameter(p, list, is_return)) return false;
        if (!parser_is(p, ',')) break;
        if (!parser_next(p)) return false;
    }
    return parser_take(p, ')', "',' or ')'");
}

bool parser_parameters_declare(struct parser *p, const uint32_t *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_variable *variable = list_at(&p->variables, list[i]);
        struct token name = {.text = p->module->text + variable->place.offset, .place = variable->place};
        name.length = lexer_word_length(name.text);
        if (name.length == 1 && name.text[0] == '_') continue; /* in a prototype */
        bool in_register = variable->register_index != PTX_NONE;
        if (!parser_declare(p, &name, in_register ? SYMBOL_REGISTER : SYMBOL_VARIABLE,
                            in_register ? variable->register_index : list[i]))
            return false;
    }
    return true;
}
