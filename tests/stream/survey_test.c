/* The survey of two programs with known footprints. */
#include "stream/survey.h"

#include "host/source.h"
#include "sm/script.h"
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

/* What the warps of two CTAs, on two SMs, do in two kernels; the same in both. */
static struct survey survey_of(const struct step *first, unsigned first_steps, const struct step *second,
                               unsigned second_steps, unsigned kernels, unsigned sms) {
    struct script_source source = script_make(2, 1, (struct script){first, first_steps});
    script_add(&source, (struct script){second, second_steps});
    source.kernels = kernels;
    struct error err = {0};
    struct survey survey;
    CHECK(survey_take(&source.source, sms, &survey, &err));
    return survey;
}

TEST("a line that two SMs touch is shared if one of them reads it, and read-only if none writes it") {
    static const struct {
        enum op_class first, second;
        unsigned shared, read_only;
    } cases[] = {{OP_load, OP_load, 1, 1},     {OP_load, OP_store, 1, 0},  {OP_store, OP_load, 1, 0},
                 {OP_store, OP_store, 0, 0},   {OP_atomic, OP_load, 1, 0}, {OP_load, OP_atomic, 1, 0},
                 {OP_atomic, OP_atomic, 1, 0}, {OP_atomic, OP_store, 1, 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct step first = memory_step(cases[i].first, SPACE_GLOBAL, 1, 0x1000, 1),
                    second = memory_step(cases[i].second, SPACE_GLOBAL, 1, 0x1000, 8);
        struct survey survey = survey_of(&first, 1, &second, 1, 1, 2);
        CHECK_EQ(survey.lines, 1u);
        CHECK_EQ(survey.several_lines, 1u);
        CHECK_EQ(survey.shared_lines, cases[i].shared);
        CHECK_EQ(survey.read_only_lines, cases[i].read_only);
        CHECK_EQ(survey.warp_instructions, 4u);
        CHECK_EQ(survey.thread_instructions, 128u);
        CHECK_EQ(survey.ctas, 2u);
        survey = survey_of(&first, 1, &second, 1, 3, 1); /* one SM */
        CHECK_EQ(survey.several_lines, 0u);
        CHECK_EQ(survey.shared_lines, 0u);
        CHECK_EQ(survey.kernels, 3u);
    }
}

TEST("a touched block has two lines, by the sectors of its halves") {
    struct step low = memory_step(OP_load, SPACE_GLOBAL, 1, 0x1000, 0x08),
                high = memory_step(OP_load, SPACE_GLOBAL, 1, 0x1000, 0x10),
                both = memory_step(OP_load, SPACE_GLOBAL, 1, 0x1000, 0x18);
    CHECK_EQ(survey_of(&low, 1, &low, 1, 1, 2).lines, 1u);
    CHECK_EQ(survey_of(&low, 1, &high, 1, 1, 2).lines, 2u);
    CHECK_EQ(survey_of(&low, 1, &high, 1, 1, 2).several_lines, 0u);
    CHECK_EQ(survey_of(&both, 1, &high, 1, 1, 2).lines, 2u);
    CHECK_EQ(survey_of(&both, 1, &high, 1, 1, 2).several_lines, 1u);
}

TEST("only global memory is surveyed") {
    struct step steps[] = {memory_step(OP_load, SPACE_LOCAL, 1, 0x1000, 1),
                           memory_step(OP_load, SPACE_SHARED, 1, 0x2000, 1),
                           memory_step(OP_load, SPACE_CONST, 1, 0x3000, 1), alu(OP_int_add, 1, 2)};
    CHECK_EQ(survey_of(steps, COUNT_OF(steps), steps, COUNT_OF(steps), 1, 2).lines, 0u);
}

/* The second kernel of a source does this. */
static const struct step *later_step;

static bool next_with_other_steps(struct stream_source *base, struct kernel *kernel) {
    struct script_source *source = (struct script_source *)base;
    if (source->launched == 1) source->scripts = 1, source->script[0].steps = later_step;
    return script_next_kernel(base, kernel);
}

static struct survey survey_of_kernels(struct step first, struct step second, struct step later) {
    struct script_source source = script_make(2, 1, (struct script){&first, 1});
    struct stream_ops ops = script_ops;
    ops.next_kernel = next_with_other_steps;
    script_add(&source, (struct script){&second, 1});
    source.source.ops = &ops;
    source.kernels = 2;
    later_step = &later;
    struct error err = {0};
    struct survey survey;
    CHECK(survey_take(&source.source, 2, &survey, &err));
    return survey;
}

TEST("whether a line is read-only is decided in each kernel") {
    struct step load = memory_step(OP_load, SPACE_GLOBAL, 1, 0x1000, 1),
                store = memory_step(OP_store, SPACE_GLOBAL, 1, 0x1000, 1),
                elsewhere = memory_step(OP_load, SPACE_GLOBAL, 1, 0x9000, 1);
    CHECK_EQ(survey_of_kernels(load, load, store).read_only_lines, 1u);
    CHECK_EQ(survey_of_kernels(store, store, load).read_only_lines, 1u);
    CHECK_EQ(survey_of_kernels(load, store, store).read_only_lines, 0u);
    CHECK_EQ(survey_of_kernels(store, store, load).shared_lines, 1u);
    /* One SM reads a line in the first kernel; both read another one in the second kernel. */
    struct survey apart = survey_of_kernels(load, elsewhere, elsewhere);
    CHECK_EQ(apart.lines, 2u);
    CHECK_EQ(apart.several_lines, 1u);
    CHECK_EQ(apart.read_only_lines, 1u);
}

TEST("more lines than the table has are counted once each") {
    enum { LINES = 100000 };
    static struct step steps[LINES];
    for (unsigned i = 0; i < LINES; i++) steps[i] = memory_step(OP_load, SPACE_GLOBAL, 1, UINT64_C(256) * i, 1);
    struct survey survey = survey_of(steps, LINES, steps, LINES, 1, 2);
    CHECK_EQ(survey.lines, (uint64_t)LINES);
    CHECK_EQ(survey.read_only_lines, (uint64_t)LINES);
}

static bool stops_at(void *user) {
    unsigned *left = user;
    return *left > 0 && --*left > 0;
}

TEST("a survey is interrupted within a warp") {
    struct error err = {0};
    struct survey survey;
    struct step steps[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    source.source.patience = stops_at;
    for (unsigned calls = 1; calls <= 3; calls++) {
        unsigned left = calls;
        source.source.patience_user = &left;
        source.source.ops->restart(&source.source);
        CHECK_EQ(survey_take(&source.source, 1, &survey, &err), calls > 2);
        CHECK_EQ((const char *)err.text, calls > 2 ? "" : "interrupted");
        CHECK_EQ(survey.warp_instructions, calls > 1 ? 2u : 0u);
        err = (struct error){0};
    }
}
