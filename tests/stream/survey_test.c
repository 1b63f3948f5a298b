/* The survey of two programs with known footprints. */
#include "stream/survey.h"

#include "host/source.h"
#include "test.h"
#include "work.h"

static struct survey surveyed(const char *name, unsigned sms) {
    struct error err = {0};
    struct survey survey = {0};
    struct stream_source *source = work_open(name, false, &err);
    REQUIRE(source);
    CHECK(survey_take(source, sms, &survey, &err));
    source->ops->destroy(source);
    return survey;
}

TEST("vector addition touches each line of three arrays, none of them from two SMs") {
    struct survey survey = surveyed("va:tiny", 80);
    CHECK_EQ(survey.lines, 3 * ((50000 * 4 + SURVEY_LINE_BYTES - 1) / SURVEY_LINE_BYTES));
    CHECK_EQ(survey.several_lines, 0u);
    CHECK_EQ(survey.kernels, 1u);
}

TEST(
    "a matrix product shares its read-only factors; tiles that meet in a line of the result are touched by several SMs "
    "but are not shared data") {
    struct survey survey = surveyed("mm:tiny", 80);
    uint64_t matrix = 64 * 64 * 4 / SURVEY_LINE_BYTES;
    CHECK_EQ(survey.lines, 3 * matrix);
    CHECK_EQ(survey.several_lines, 3 * matrix);
    CHECK_EQ(survey.shared_lines, 2 * matrix);
    CHECK_EQ(survey.read_only_lines, 2 * matrix);
}

TEST("on one SM nothing is shared") { CHECK_EQ(surveyed("mm:tiny", 1).several_lines, 0u); }

TEST("read-only lines may be written in another kernel than the one that reads them") {
    struct survey chain = surveyed("2mm:tiny", 32), weights = surveyed("bp:tiny", 32);
    CHECK_EQ(chain.read_only_lines, chain.shared_lines);
    CHECK(weights.read_only_lines > 0);
    CHECK(weights.read_only_lines < weights.shared_lines);
}

static void fails(void *user, struct host *host) {
    (void)user;
    host_fail(host, "no kernel to launch");
}

TEST("a survey of a failing program is an error") {
    struct error err = {0};
    struct survey survey;
    struct stream_source *source = program_source_create(&(struct host_program){.run = fails});
    CHECK(!survey_take(source, 80, &survey, &err));
    CHECK_EQ(err.text, "no kernel to launch");
    source->ops->destroy(source);
}
