/* Expressions of metrics. */
#include "lab/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "test.h"

/* A machine with three units: `a` is 1, 2 and 6 in them, `b` has only the total 4, `zero` is 0. */
static bool made_up_value(void *user, const char *name, int unit, double *value) {
    static const double a[] = {1, 2, 6};
    (void)user;
    if (strcmp(name, "x.a") == 0) *value = unit < 0 ? 9 : a[unit];
    if (strcmp(name, "b") == 0) *value = unit < 0 ? 4 : NAN;
    if (strcmp(name, "zero") == 0) *value = 0;
    return strcmp(name, "x.a") == 0 || strcmp(name, "b") == 0 || strcmp(name, "zero") == 0;
}
static unsigned made_up_units(void *user, const char *name) {
    (void)user;
    return strcmp(name, "x.a") == 0 ? 3 : 0;
}
static const struct expression_view made_up = {made_up_value, made_up_units, NULL};

static double value_of(const char *text, int unit) {
    struct error err = {0};
    unsigned at;
    struct expression *expression = expression_parse(text, &at, &err);
    if (!expression) fprintf(stderr, "%s: %s\n", text, err.text);
    REQUIRE(expression);
    double value = expression_unit_value(expression, &made_up, unit);
    expression_free(expression);
    return value;
}

TEST("evaluates arithmetic with the usual precedence") {
    CHECK_EQ(value_of("1 + 2 * 3", -1), 7.0);
    CHECK_EQ(value_of("(1 + 2) * 3", -1), 9.0);
    CHECK_EQ(value_of("10 - 4 - 3", -1), 3.0);
    CHECK_EQ(value_of("24 / 4 / 2", -1), 3.0);
    CHECK_EQ(value_of("-x.a + 10", -1), 1.0);
    CHECK_EQ(value_of("2 * -3", -1), -6.0);
    CHECK_EQ(value_of("100*x.a/(x.a + b - 1)", -1), 75.0);
    CHECK_EQ(value_of(".5 + 0.25", -1), 0.75);
}

TEST("a name without a value and a division by zero give NaN") {
    CHECK(isnan(value_of("nothing + 1", -1)));
    CHECK(isnan(value_of("b / zero", -1)));
    CHECK(isnan(value_of("zero / zero + 1", -1)));
}

TEST("? gives the first alternative with a value") {
    CHECK_EQ(value_of("nothing ? b", -1), 4.0);
    CHECK_EQ(value_of("b ? x.a", -1), 4.0);
    CHECK_EQ(value_of("zero ? b", -1), 0.0);
    CHECK_EQ(value_of("1 / zero ? nothing ? 7", -1), 7.0);
    CHECK_EQ(value_of("10 * (nothing + 1 ? b - 1)", -1), 30.0); /* lower precedence than a sum */
    CHECK(isnan(value_of("nothing ? nothing", -1)));
}

TEST("a counter with units has the value of one unit, others the total") {
    CHECK_EQ(value_of("x.a / b", 1), 0.5);
    CHECK_EQ(value_of("largest(x.a)", -1), 6.0);
    CHECK_EQ(value_of("average(x.a)", -1), 3.0);
    CHECK_EQ(value_of("total(x.a)", -1), 9.0);
    CHECK_EQ(value_of("total(x.a / b)", -1), 2.25);
    CHECK_EQ(value_of("largest(x.a) / average(x.a)", 0), 2.0);
    CHECK_EQ(value_of("largest(-x.a)", -1), -1.0);
    CHECK_EQ(value_of("average(b)", -1), 4.0);
}

TEST("lists names in the order of the text, with their offsets") {
    struct error err = {0};
    unsigned at;
    struct expression *expression = expression_parse("x.a + b / largest(x.a)", &at, &err);
    REQUIRE(expression);
    CHECK_EQ(expression_name(expression, 0, &at), "x.a");
    CHECK_EQ(at, 0u);
    CHECK_EQ(expression_name(expression, 1, &at), "b");
    CHECK_EQ(at, 6u);
    CHECK_EQ(expression_name(expression, 2, &at), "x.a");
    CHECK_EQ(at, 18u);
    CHECK(!expression_name(expression, 3, NULL));
    CHECK_EQ(expression_units(expression, &made_up), 3u);
    expression_free(expression);
}

TEST("rejects invalid expressions with their offset") {
    static const struct {
        const char *text, *message;
        unsigned at;
    } wrong[] = {
        {"", "expected a counter, a number or '(', not the end", 0},
        {"a +", "not the end", 3},
        {"a b", "expected an operator (+ - * / ?), not 'b'", 2},
        {"(a + b", "expected an operator or ')', not the end", 6},
        {"a + ) b", "not ')'", 4},
        {"1.2.3", "a number such as 100 or 0.5", 0},
        {"a * smallest(b)", "unknown function 'smallest'; expected largest, average or total", 4},
        {"a % b", "not '%'", 2},
    };
    for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
        struct error err = {0};
        unsigned at = 99;
        CHECK(!expression_parse(wrong[i].text, &at, &err));
        CHECK_TEXT(err.text, wrong[i].message);
        CHECK_EQ(at, wrong[i].at);
    }
    char deep[201];
    memset(deep, '(', 200);
    deep[200] = '\0';
    struct error err = {0};
    unsigned at;
    CHECK(!expression_parse(deep, &at, &err));
    CHECK_TEXT(err.text, "fewer levels of nesting");
}
