#include "lab/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"

enum { DEPTH_MAX = 64 };

enum node_kind { NODE_NUMBER, NODE_NAME, NODE_OPERATOR, NODE_LARGEST, NODE_AVERAGE, NODE_TOTAL };

struct node {
    enum node_kind kind;
    char op;
    double number;
    const char *name;
    unsigned at;
    const struct node *left, *right;
    const struct node *previous_name; /* the preceding name in the text */
};

struct expression {
    struct arena *arena;
    const char *text;
    const struct node *root, *last_name;
    unsigned name_count;
};

struct parser {
    struct expression *expression;
    const char *at;
    unsigned depth;
    struct error *err;
};

static const struct node *parse_choice(struct parser *parser);

static struct node *node_new(struct parser *parser, enum node_kind kind) {
    struct node *node = arena_alloc(parser->expression->arena, 1, sizeof *node);
    node->kind = kind;
    node->at = (unsigned)(parser->at - parser->expression->text);
    return node;
}

static char peek(struct parser *parser) {
    parser->at += strspn(parser->at, " \t\n");
    return *parser->at;
}

static const struct node *blame(struct parser *parser, const char *wanted) {
    char found[16] = "the end";
    if (*parser->at) snprintf(found, sizeof found, "'%.*s'", (unsigned char)*parser->at < 0x80 ? 1 : 4, parser->at);
    error_set(parser->err, "expected %s, not %s", wanted, found);
    return NULL;
}

static const struct node *parse_closed(struct parser *parser) {
    const struct node *inner = parse_choice(parser);
    if (!inner) return NULL;
    if (peek(parser) != ')') return blame(parser, "an operator or ')'");
    parser->at++;
    return inner;
}

static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* A counter, or a function call. */
static const struct node *parse_name(struct parser *parser) {
    static const struct {
        const char *name;
        enum node_kind kind;
    } functions[] = {{"largest", NODE_LARGEST}, {"average", NODE_AVERAGE}, {"total", NODE_TOTAL}};
    struct expression *expression = parser->expression;
    struct node *node = node_new(parser, NODE_NAME);
    const char *start = parser->at;
    while (is_name_start(*parser->at) || (*parser->at >= '0' && *parser->at <= '9') || *parser->at == '.') parser->at++;
    node->name = arena_text(expression->arena, start, (size_t)(parser->at - start));
    if (peek(parser) != '(') {
        node->previous_name = expression->last_name;
        expression->last_name = node;
        expression->name_count++;
        return node;
    }
    for (unsigned i = 0; i < COUNT_OF(functions); i++) {
        if (strcmp(node->name, functions[i].name) != 0) continue;
        parser->at++;
        node->kind = functions[i].kind;
        node->left = parse_closed(parser);
        return node->left ? node : NULL;
    }
    parser->at = start;
    error_set(parser->err, "unknown function '%.60s'; expected largest, average or total", node->name);
    return NULL;
}

static const struct node *parse_number(struct parser *parser) {
    struct node *node = node_new(parser, NODE_NUMBER);
    size_t digits = strspn(parser->at, "0123456789.");
    char text[32], *end;
    snprintf(text, sizeof text, "%.*s", (int)digits, parser->at);
    node->number = strtod(text, &end);
    if (*end || digits >= sizeof text) return blame(parser, "a number such as 100 or 0.5");
    parser->at += digits;
    return node;
}

static const struct node *parse_factor(struct parser *parser) {
    char c = peek(parser);
    if ((c >= '0' && c <= '9') || c == '.') return parse_number(parser);
    if (c != '-' && c != '(' && !is_name_start(c)) return blame(parser, "a counter, a number or '('");
    if (parser->depth++ == DEPTH_MAX) return blame(parser, "fewer levels of nesting");
    const struct node *factor;
    if (is_name_start(c)) {
        factor = parse_name(parser);
    } else if (c == '(') {
        parser->at++;
        factor = parse_closed(parser);
    } else { /* -x is 0 - x */
        struct node *node = node_new(parser, NODE_OPERATOR);
        node->op = '-';
        node->left = node_new(parser, NODE_NUMBER);
        parser->at++;
        node->right = parse_factor(parser);
        factor = node->right ? node : NULL;
    }
    parser->depth--;
    return factor;
}

/* Left-associative operators of one precedence level. */
static const struct node *parse_chain(struct parser *parser, const char *operators,
                                      const struct node *(*operand)(struct parser *)) {
    const struct node *left = operand(parser);
    while (left && peek(parser) && strchr(operators, *parser->at)) {
        struct node *node = node_new(parser, NODE_OPERATOR);
        node->op = *parser->at++;
        node->left = left;
        node->right = operand(parser);
        left = node->right ? node : NULL;
    }
    return left;
}

static const struct node *parse_product(struct parser *parser) { return parse_chain(parser, "*/", parse_factor); }
static const struct node *parse_sum(struct parser *parser) { return parse_chain(parser, "+-", parse_product); }
static const struct node *parse_choice(struct parser *parser) { return parse_chain(parser, "?", parse_sum); }

struct expression *expression_parse(const char *text, unsigned *at, struct error *err) {
    struct arena *arena = arena_create();
    struct expression *expression = arena_alloc(arena, 1, sizeof *expression);
    *expression = (struct expression){.arena = arena, .text = arena_text(arena, text, strlen(text))};
    struct parser parser = {.expression = expression, .at = expression->text, .err = err};
    expression->root = parse_choice(&parser);
    if (expression->root && peek(&parser)) {
        blame(&parser, "an operator (+ - * / ?)");
        expression->root = NULL;
    }
    if (expression->root) return expression;
    *at = (unsigned)(parser.at - expression->text);
    expression_free(expression);
    return NULL;
}

void expression_free(struct expression *expression) {
    if (expression) arena_destroy(expression->arena);
}

const char *expression_name(const struct expression *expression, unsigned index, unsigned *at) {
    if (index >= expression->name_count) return NULL;
    const struct node *node = expression->last_name;
    for (unsigned i = expression->name_count - 1; i > index; i--) node = node->previous_name;
    if (at) *at = node->at;
    return node->name;
}

static bool spans_units(const struct node *node) {
    if (!node) return false;
    bool is_function = node->kind == NODE_LARGEST || node->kind == NODE_AVERAGE || node->kind == NODE_TOTAL;
    return is_function || spans_units(node->left) || spans_units(node->right);
}

bool expression_spans_units(const struct expression *expression) { return spans_units(expression->root); }

/* --- values --- */

static unsigned units_of(const struct node *node, const struct expression_view *view) {
    if (!node) return 0;
    if (node->kind == NODE_NAME) return view->units(view->user, node->name);
    return (unsigned)max_u64(units_of(node->left, view), units_of(node->right, view));
}

static double value_of(const struct node *node, const struct expression_view *view, int unit);

static double over_units(const struct node *node, const struct expression_view *view) {
    unsigned units = units_of(node->left, view);
    double sum = 0, largest = -INFINITY;
    for (unsigned i = 0; i < units; i++) {
        double value = value_of(node->left, view, (int)i);
        if (isnan(value)) return NAN;
        sum += value;
        largest = fmax(largest, value);
    }
    if (units == 0) return value_of(node->left, view, -1);
    return node->kind == NODE_LARGEST ? largest : node->kind == NODE_TOTAL ? sum : sum / units;
}

static double name_value(const struct node *node, const struct expression_view *view, int unit) {
    double value;
    bool by_unit = unit >= 0 && view->units(view->user, node->name) > 0;
    return view->value(view->user, node->name, by_unit ? unit : -1, &value) ? value : NAN;
}

static double value_of(const struct node *node, const struct expression_view *view, int unit) {
    switch (node->kind) {
    case NODE_NUMBER: return node->number;
    case NODE_NAME: return name_value(node, view, unit);
    case NODE_LARGEST:
    case NODE_AVERAGE:
    case NODE_TOTAL: return over_units(node, view);
    case NODE_OPERATOR: break;
    }
    double left = value_of(node->left, view, unit), right = value_of(node->right, view, unit);
    switch (node->op) {
    case '+': return left + right;
    case '-': return left - right;
    case '*': return left * right;
    case '?': return isnan(left) ? right : left;
    default: return right == 0 ? NAN : left / right;
    }
}

double expression_unit_value(const struct expression *expression, const struct expression_view *view, int unit) {
    return value_of(expression->root, view, unit);
}
double expression_value(const struct expression *expression, const struct expression_view *view) {
    return value_of(expression->root, view, -1);
}
unsigned expression_units(const struct expression *expression, const struct expression_view *view) {
    return units_of(expression->root, view);
}
