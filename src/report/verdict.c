/* The verdict on a published value. A simulator with other inputs than the paper's cannot match its numbers exactly,
 * but an effect should have the same direction and a similar size. The tolerances are this project's choice; the
 * report states them. */
#include <math.h>
#include <string.h>

#include "report/report.h"

const char *const verdict_names[] = {
    [VERDICT_AGREES] = "agrees",    [VERDICT_PARTLY] = "in part",  [VERDICT_DIFFERS] = "differs",
    [VERDICT_OPEN] = "qualitative", [VERDICT_MISSING] = "missing",
};

const char verdict_rule[] =
    "An effect (gain, reduction or ratio) agrees if it is within 20 % of the published effect or within 5 percentage"
    " points of it (0.05 for a ratio), and agrees in part if it has the same direction. Any other quantity agrees"
    " within 10 % of the published value, and in part within 50 %. Qualitative statements are listed without a"
    " verdict.";

/* A smaller effect counts as none. */
static double least_effect(const struct figure_paper *paper) {
    if (paper->neutral != 0) return 0.05;
    return paper->unit[0] == '%' || strncmp(paper->unit, "percentage", 10) == 0 ? 5 : 0;
}

enum verdict verdict_of(const struct figure_paper *paper) {
    if (!isfinite(paper->ours)) return VERDICT_MISSING;
    if (!isfinite(paper->paper)) return VERDICT_OPEN;
    bool is_effect = isfinite(paper->neutral);
    double size = fabs(is_effect ? paper->paper - paper->neutral : paper->paper);
    double off = fabs(paper->ours - paper->paper);
    if (off <= (is_effect ? fmax(0.2 * size, least_effect(paper)) : 0.1 * size)) return VERDICT_AGREES;
    bool partly = is_effect ? (paper->ours - paper->neutral) * (paper->paper - paper->neutral) > 0 : off <= 0.5 * size;
    return partly ? VERDICT_PARTLY : VERDICT_DIFFERS;
}
