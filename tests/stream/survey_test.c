/* The survey's words on two programs whose memory is known. */
#include "stream/survey.h"

#include "claim.h"
#include "work.h"

static struct survey surveyed(const char *name, unsigned sms) {
    struct error err = {0};
    struct survey survey = {0};
    struct stream_source *source = work_open(name, false, &err);
    if (!source) return survey;
    survey_take(source, sms, &survey);
    source->ops->destroy(source);
    return survey;
}

CLAIM("vector addition touches each line of three arrays, and no two SMs the same one") {
    struct survey survey = surveyed("va:tiny", 80);
    CHECK_EQ(survey.lines, 3 * ((50000 * 4 + SURVEY_LINE_BYTES - 1) / SURVEY_LINE_BYTES));
    CHECK_EQ(survey.shared_lines, 0u);
    CHECK_EQ(survey.kernels, 1u);
}

CLAIM("a matrix product shares its factors, which it only reads, and its result where tiles meet in a line") {
    struct survey survey = surveyed("mm:tiny", 80);
    uint64_t matrix = 64 * 64 * 4 / SURVEY_LINE_BYTES;
    CHECK_EQ(survey.lines, 3 * matrix);
    CHECK_EQ(survey.shared_lines, 3 * matrix);
    CHECK_EQ(survey.shared_read_only_lines, 2 * matrix);
}

CLAIM("on one SM nothing is shared") { CHECK_EQ(surveyed("mm:tiny", 1).shared_lines, 0u); }
