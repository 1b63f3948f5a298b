/* Constant expressions, by precedence climbing. Integers have 64 bits and are signed unless a literal has U or does not
 * fit; mixed operands are unsigned; floats are doubles ("Parallel Thread Execution ISA", section 4.5). Integer overflow
 * wraps. */
#include <string.h>

#include "ptx/parser.h"

static struct constant of_integer(uint64_t bits, bool is_unsigned) {
    return (struct constant){.bits = bits, .is_unsigned = is_unsigned};
}

static struct constant of_double(double value) {
    struct constant constant = {.is_float = true};
    memcpy(&constant.bits, &value, sizeof value);
    return constant;
}

double constant_double(const struct constant *value) {
    double wide;
    float narrow;
    if (!value->is_float) return value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
    memcpy(&wide, &value->bits, sizeof wide);
    memcpy(&narrow, &value->bits, sizeof narrow);
    return value->single ? (double)narrow : wide;
}

static bool is_true(const struct constant *value) {
    return value->is_float ? constant_double(value) != 0 : value->bits != 0;
}

static unsigned precedence(int operator_kind) {
    switch (operator_kind) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case TOKEN_SHIFT_LEFT:
    case TOKEN_SHIFT_RIGHT: return 8;
    case '<':
    case '>':
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER_EQUAL: return 7;
    case TOKEN_EQUAL:
    case TOKEN_UNEQUAL: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case TOKEN_BOTH: return 2;
    case TOKEN_EITHER: return 1;
    default: return 0;
    }
}

static bool float_operation(int kind, double a, double b, struct constant *result) {
    switch (kind) {
    case '+': *result = of_double(a + b); return true;
    case '-': *result = of_double(a - b); return true;
    case '*': *result = of_double(a * b); return true;
    case '/': *result = of_double(a / b); return true;
    case '<': *result = of_integer(a < b, false); return true;
    case '>': *result = of_integer(a > b, false); return true;
    case TOKEN_LESS_EQUAL: *result = of_integer(a <= b, false); return true;
    case TOKEN_GREATER_EQUAL: *result = of_integer(a >= b, false); return true;
    case TOKEN_EQUAL: *result = of_integer(a == b, false); return true;
    case TOKEN_UNEQUAL: *result = of_integer(a != b, false); return true;
    default: return false;
    }
}

static uint64_t quotient(bool remainder, bool is_unsigned, uint64_t a, uint64_t b) {
    int64_t x = (int64_t)a, y = (int64_t)b;
    if (is_unsigned) return remainder ? a % b : a / b;
    if (y == -1) return remainder ? 0 : 0 - a; /* INT64_MIN / -1 wraps */
    return (uint64_t)(remainder ? x % y : x / y);
}

static uint64_t shifted(bool left, bool is_unsigned, uint64_t a, uint64_t by) {
    if (left) return by > 63 ? 0 : a << by;
    if (is_unsigned) return by > 63 ? 0 : a >> by;
    return (uint64_t)((int64_t)a >> min_u64(by, 63));
}

static struct constant integer_operation(int kind, const struct constant *left, const struct constant *right) {
    uint64_t a = left->bits, b = right->bits;
    bool u = left->is_unsigned || right->is_unsigned;
    bool less = u ? a < b : (int64_t)a < (int64_t)b;
    switch (kind) {
    case '+': return of_integer(a + b, u);
    case '-': return of_integer(a - b, u);
    case '*': return of_integer(a * b, u);
    case '/': return of_integer(quotient(false, u, a, b), u);
    case '%': return of_integer(quotient(true, u, a, b), u);
    case TOKEN_SHIFT_LEFT: return of_integer(shifted(true, left->is_unsigned, a, b), left->is_unsigned);
    case TOKEN_SHIFT_RIGHT: return of_integer(shifted(false, left->is_unsigned, a, b), left->is_unsigned);
    case '<': return of_integer(less, false);
    case '>': return of_integer(!less && a != b, false);
    case TOKEN_LESS_EQUAL: return of_integer(less || a == b, false);
    case TOKEN_GREATER_EQUAL: return of_integer(!less, false);
    case TOKEN_EQUAL: return of_integer(a == b, false);
    case TOKEN_UNEQUAL: return of_integer(a != b, false);
    case '&': return of_integer(a & b, u);
    case '^': return of_integer(a ^ b, u);
    default: return of_integer(a | b, u);
    }
}

static bool apply(struct parser *p, const struct token *operator, const struct constant * a, struct constant *value) {
    int kind = operator->kind;
    struct constant b = *value;
    if (kind == TOKEN_BOTH || kind == TOKEN_EITHER) {
        *value = of_integer(kind == TOKEN_BOTH ? is_true(a) && is_true(&b) : is_true(a) || is_true(&b), false);
        return true;
    }
    if (a->is_float || b.is_float)
        return float_operation(kind, constant_double(a), constant_double(&b), value) ||
               ptx_error(p->module, operator->place, p->err, "'%.*s' requires integers on both sides",
                         (int)operator->length, operator->text);
    if ((kind == '/' || kind == '%') && b.bits == 0)
        return ptx_error(p->module, operator->place, p->err, "division by zero");
    *value = integer_operation(kind, a, &b);
    return true;
}

static bool choice(struct parser *p, struct constant *value);

/* A cast (.s64) or (.u64), or a parenthesised expression. */
static bool unary(struct parser *p, struct constant *value);

static bool parenthesised(struct parser *p, struct constant *value) {
    if (!parser_next(p)) return false;
    if (!parser_is(p, TOKEN_DOTTED)) return choice(p, value) && parser_take(p, ')', "')'");
    uint32_t type = parser_word(p, IN_MODIFIERS, &p->token);
    if (type != PTX_MOD_s64 && type != PTX_MOD_u64) return parser_expected(p, "'.s64' or '.u64'");
    struct ptx_place place = p->token.place;
    if (!parser_next(p) || !parser_take(p, ')', "')'") || !unary(p, value)) return false;
    if (value->is_float) return ptx_error(p->module, place, p->err, "a float cannot be cast; expected an integer");
    value->is_unsigned = type == PTX_MOD_u64;
    return true;
}

static bool unary_inner(struct parser *p, struct constant *value) {
    struct token token = p->token;
    switch (token.kind) {
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
        *value = (struct constant){.is_float = token.kind == TOKEN_FLOAT,
                                   .is_unsigned = token.is_unsigned,
                                   .single = token.single,
                                   .bits = token.value};
        return parser_next(p);
    case '(': return parenthesised(p, value);
    case '+': return parser_next(p) && unary(p, value);
    case '-':
        if (!parser_next(p) || !unary(p, value)) return false;
        *value = value->is_float ? of_double(-constant_double(value)) : of_integer(0 - value->bits, value->is_unsigned);
        return true;
    case '!':
        if (!parser_next(p) || !unary(p, value)) return false;
        *value = of_integer(!is_true(value), false);
        return true;
    case '~':
        if (!parser_next(p) || !unary(p, value)) return false;
        if (value->is_float) return ptx_error(p->module, token.place, p->err, "'~' requires an integer");
        *value = of_integer(~value->bits, value->is_unsigned);
        return true;
    default: break;
    }
    if (!parser_is_word(p, "WARP_SZ")) return parser_expected(p, "a constant");
    *value = of_integer(32, false);
    return parser_next(p);
}

static bool unary(struct parser *p, struct constant *value) {
    if (++p->depth > LIMIT_EXPRESSION)
        return ptx_error(p->module, p->token.place, p->err, "the expression is nested more than %d levels deep",
                         LIMIT_EXPRESSION);
    bool ok = unary_inner(p, value);
    p->depth--;
    return ok;
}

static bool binary(struct parser *p, unsigned lowest, struct constant *value) {
    if (!unary(p, value)) return false;
    for (unsigned level; (level = precedence(p->token.kind)) >= lowest && level > 0;) {
        struct token operator= p->token;
        struct constant left = *value;
        if (!parser_next(p) || !binary(p, level + 1, value) || !apply(p, &operator, & left, value)) return false;
    }
    return true;
}

static bool choice(struct parser *p, struct constant *value) {
    if (!binary(p, 1, value)) return false;
    if (!parser_is(p, '?')) return true;
    if (++p->depth > LIMIT_EXPRESSION)
        return ptx_error(p->module, p->token.place, p->err, "the expression is nested more than %d levels deep",
                         LIMIT_EXPRESSION);
    struct constant yes, no;
    bool ok = parser_next(p) && choice(p, &yes) && parser_take(p, ':', "':'") && choice(p, &no);
    p->depth--;
    if (ok) *value = is_true(value) ? yes : no;
    return ok;
}

bool parser_expression(struct parser *p, struct constant *value) { return choice(p, value); }

bool parser_integer_expression(struct parser *p, int64_t *value) {
    struct ptx_place place = p->token.place;
    struct constant constant;
    if (!parser_expression(p, &constant)) return false;
    if (constant.is_float) return ptx_error(p->module, place, p->err, "found a float, expected an integer");
    *value = (int64_t)constant.bits;
    return true;
}

bool parser_offset(struct parser *p, int64_t *value) {
    *value = 0;
    if (!parser_is(p, '+') && !parser_is(p, '-')) return true;
    return parser_integer_expression(p, value); /* the sign belongs to the expression */
}
