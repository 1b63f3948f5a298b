/* Pointers that are hidden from the analysis of read-only data: what a kernel writes through them must not be marked. */
#include "emu/launder.h"

#include "base/random.h"

/* Hides %a, joins it with %b and stores through the result. The kernel also loads from both. */
static char *kernel_of(const struct launder_step *step, const struct launder_step *join, const char *start) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fputs(start, out);
    launder_print(out, step, "%a", "%b", "%z1", 1);
    launder_print(out, join, "%z1", "%b", "%z2", 2);
    fputs("st.global.u32 [%z2], 7;" LAUNDER_END, out);
    fclose(out);
    return text;
}

static void check_hidden(const struct launder_step *steps, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < COUNT_OF(launder_joins); k++) {
            struct laundered result = {0};
            char *text = kernel_of(&steps[i], &launder_joins[k], LAUNDER_START(""));
            REQUIRE(launder_run(text, &result));
            bool good = CHECK_EQ(result.violations, 0u) && CHECK_EQ(result.written, 1u);
            if (!good) printf("      %s, %s\n", steps[i].name, launder_joins[k].name);
            free(text);
        }
}

TEST("a store through a hidden pointer is seen, whatever hides it and whatever it is joined with") {
    check_hidden(launder_steps, COUNT_OF(launder_steps));
    check_hidden(launder_origins, COUNT_OF(launder_origins));
}

TEST("a load that is wrongly promised to be read-only violates the promise in each of these kernels") {
    for (size_t i = 0; i < COUNT_OF(launder_steps); i++) {
        struct laundered result = {0};
        char *text = kernel_of(&launder_steps[i], &launder_joins[i % COUNT_OF(launder_joins)], LAUNDER_START(".ro"));
        REQUIRE(launder_run(text, &result));
        if (!CHECK_EQ(result.violations, 1u)) printf("      %s\n", launder_steps[i].name);
        free(text);
    }
}

TEST("an offset that predicates carry to another pointer is not seen, but detected when it is used") {
    static const struct launder_step bit_by_bit = {
        "bit by bit",
        "sub.s64 %y1, $, ~; shr.u64 %y2, %y1, %t; cvt.u32.u64 %w1, %y2; and.b32 %w1, %w1, 1; setp.ne.u32 %q1, %w1, 0;\n"
        "vote.sync.ballot.b32 %w2, %q1, -1; cvt.s64.s32 %y3, %w2; add.s64 #, ~, %y3;",
        true};
    struct laundered result = {0};
    char *text = kernel_of(&bit_by_bit, &launder_joins[0], LAUNDER_START(""));
    REQUIRE(launder_run(text, &result));
    CHECK_EQ(result.written, 1u);
    CHECK_EQ(result.violations, 1u);
    free(text);
}

#define COMPILED SLUICE_SOURCE_DIR "/tests/emu/launder/"

TEST("compiled kernels that hide a pointer write no data that is marked read-only") {
    static const char *const files[] = {COMPILED "clang-O0.ptx", COMPILED "clang-O1.ptx", COMPILED "clang-O2.ptx",
                                        COMPILED "clang-O3.ptx", COMPILED "nvcc-O3.ptx"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        unsigned kernels = 0;
        for (uint32_t f = 0, count = 1; f < count; f++) {
            struct error err = {0};
            struct laundered result;
            struct ptx_module *module = ptx_parse_file(files[i], &err);
            REQUIRE(module);
            count = module->function_count;
            if (!module->functions[f].is_kernel) {
                ptx_module_destroy(module);
                continue;
            }
            char name[64];
            snprintf(name, sizeof name, "%s", module->functions[f].name);
            kernels++;
            bool good = CHECK(launder_run_module(module, name, &result)) && CHECK_EQ(result.violations, 0u) &&
                        CHECK_EQ(result.written, 1u);
            if (!good) printf("      %s: kernel %s: %s\n", files[i], name, result.err.set ? result.err.text : "");
        }
        CHECK_EQ(kernels, 19u);
    }
}

/* ---- random kernels ---- */

/* A kernel under construction: the register %z`at` has the hidden value. */
struct hiding {
    FILE *out;
    uint64_t *random;
    unsigned at, labels;
};

static const char *any_pointer(struct hiding *h) {
    static const char *const pointers[] = {"%a", "%b", "%c"};
    return pointers[random_below(h->random, COUNT_OF(pointers))];
}

static void hide_with(struct hiding *h, const struct launder_step *step) {
    char from[16], to[16];
    snprintf(from, sizeof from, "%%z%u", h->at);
    snprintf(to, sizeof to, "%%z%u", ++h->at);
    launder_print(h->out, step, from, any_pointer(h), to, ++h->labels);
}

/* One step that suits the value. */
static void hide(struct hiding *h, bool is_address) {
    const struct launder_step *step;
    do step = &launder_steps[random_below(h->random, COUNT_OF(launder_steps))];
    while (step->for_addresses && !is_address);
    hide_with(h, step);
}

/* Steps on the distance to another pointer. */
static void hide_distance(struct hiding *h) {
    const char *base = any_pointer(h);
    fprintf(h->out, "sub.s64 %%z%u, %%z%u, %s;\n", h->at + 1, h->at, base);
    h->at++;
    for (uint64_t steps = random_below(h->random, 4); steps; steps--) hide(h, false);
    fprintf(h->out, "add.s64 %%z%u, %%z%u, %s;\n", h->at + 1, h->at, base);
    h->at++;
}

/* A kernel that loads through all pointers, hides one and writes through it. */
static char *kernel_random(uint64_t seed, const char *start, unsigned *victim) {
    static const char *const writes[] = {
        "st.global.u32 [%%z%u], 7;",         "st.u32 [%%z%u], 7;",
        "st.global.v2.u32 [%%z%u], {7, 8};", "atom.global.exch.b32 %%e4, [%%z%u], 7;",
        "atom.or.b32 %%e4, [%%z%u], 7;",     "red.global.max.u32 [%%z%u], 7;",
        "st.global.u8 [%%z%u], 7;",
    };
    char *text = NULL;
    size_t bytes = 0;
    struct hiding h = {.out = open_memstream(&text, &bytes), .random = &seed};
    fputs(start, h.out);
    *victim = (unsigned)random_below(&seed, 3);
    fprintf(h.out, "mov.u64 %%z1, %%%c;\n", 'a' + (int)*victim);
    h.at = 1;
    for (uint64_t steps = 1 + random_below(&seed, 5); steps; steps--)
        if (random_below(&seed, 4))
            hide(&h, true);
        else
            hide_distance(&h);
    hide_with(&h, &launder_joins[random_below(&seed, COUNT_OF(launder_joins))]);
    fprintf(h.out, writes[random_below(&seed, COUNT_OF(writes))], h.at);
    fputs("\nld.global.u32 %e5, [%a+64]; ld.global.u32 %e6, [%b+64]; ld.global.u32 %e7, [%c+64];" LAUNDER_END, h.out);
    fclose(h.out);
    return text;
}

static void check_random(uint64_t first, unsigned kernels) {
    unsigned with_marks = 0;
    for (unsigned i = 0; i < kernels; i++) {
        struct laundered result = {0};
        unsigned victim;
        char *text = kernel_random(first + i, LAUNDER_START(""), &victim);
        REQUIRE(launder_run(text, &result));
        with_marks += result.marked > 0;
        if (!(CHECK_EQ(result.violations, 0u) && CHECK_EQ(result.written, 1u << victim)))
            printf("    kernel %llu:\n%s", (unsigned long long)(first + i), text + strlen(LAUNDER_START("")));
        free(text);
        if (i % 8) continue; /* the same kernel with wrong promises */
        text = kernel_random(first + i, LAUNDER_START(".ro"), &victim);
        REQUIRE(launder_run(text, &result));
        if (!CHECK_EQ(result.violations, 1u)) printf("    kernel %llu\n", (unsigned long long)(first + i));
        free(text);
    }
    CHECK(8 * with_marks > kernels); /* the analysis still marks loads that no kernel writes */
}

TEST("random kernels that hide a pointer write no data that is marked read-only") { check_random(1, 400); }
TEST_LONG("many random kernels that hide a pointer write no data that is marked read-only") {
    check_random(1000000, 20000);
}
