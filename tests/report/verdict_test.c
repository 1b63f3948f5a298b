/* Verdicts on published values. */
#include <math.h>

#include "report/report.h"
#include "test.h"

static enum verdict verdict(double paper, double ours, double neutral, const char *unit) {
    return verdict_of(&(struct figure_paper){.paper = paper, .ours = ours, .neutral = neutral, .unit = unit});
}

TEST("an effect agrees within 20 % of the published one, or within 5 points") {
    CHECK_EQ(verdict(28.1, 29, 0, "%"), VERDICT_AGREES);
    CHECK_EQ(verdict(50, 40, 0, "%"), VERDICT_AGREES);
    CHECK_EQ(verdict(50, 39.9, 0, "%"), VERDICT_PARTLY);
    CHECK_EQ(verdict(2, -2.9, 0, "% (around)"), VERDICT_AGREES);
    CHECK_EQ(verdict(2, -3.1, 0, "%"), VERDICT_DIFFERS);
}

TEST("an effect in the opposite direction differs, one in the same direction agrees in part") {
    CHECK_EQ(verdict(30, -10, 0, "%"), VERDICT_DIFFERS);
    CHECK_EQ(verdict(-30, -10, 0, "%"), VERDICT_PARTLY);
    CHECK_EQ(verdict(1.3, 1.1, 1, "ratio"), VERDICT_PARTLY);
    CHECK_EQ(verdict(1.3, 0.9, 1, "ratio"), VERDICT_DIFFERS);
    CHECK_EQ(verdict(1.3, 1.25, 1, "x"), VERDICT_AGREES);
}

TEST("if the published effect is none, a simulated effect differs") {
    CHECK_EQ(verdict(0, 4, 0, "% (performance-neutral)"), VERDICT_AGREES);
    CHECK_EQ(verdict(0, 6, 0, "% (performance-neutral)"), VERDICT_DIFFERS);
    CHECK_EQ(verdict(1, 1.04, 1, ""), VERDICT_AGREES);
}

TEST("compares a plain quantity by its relative error") {
    CHECK_EQ(verdict(100, 109, NAN, "cycles"), VERDICT_AGREES);
    CHECK_EQ(verdict(100, 149, NAN, "cycles"), VERDICT_PARTLY);
    CHECK_EQ(verdict(100, 151, NAN, "cycles"), VERDICT_DIFFERS);
    CHECK_EQ(verdict(3, 7, 0, "MB"), VERDICT_PARTLY); /* the 5-point tolerance does not apply to MB */
}

TEST("a missing value has the verdict missing") {
    CHECK_EQ(verdict(28.1, NAN, 0, "%"), VERDICT_MISSING);
    CHECK_EQ(verdict(28.1, NAN, NAN, "MB"), VERDICT_MISSING);
}

TEST("a qualitative statement has no verdict") { CHECK_EQ(verdict(NAN, 60, 0, "%"), VERDICT_OPEN); }
