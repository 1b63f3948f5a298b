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
            bool good = CHECK_EQ(result.violations, 0u) & CHECK_EQ(result.written, 1u);
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
