/* Claims: the tests, in plain words.
 *
 *     CLAIM("a row hit needs no activate") {
 *         struct dram *dram = dram_create(...);
 *         REQUIRE(dram);                                   the rest is meaningless without it: the claim ends here
 *         CHECK(dram_idle(dram));                          failed checks are reported and the claim goes on
 *         CHECK_EQ(dram->activates, 1u);                   integers of any two types, reals, pointers; char * by
 * content CHECK_NEAR(latency, 220.0, 0.01);                within one per cent of the second value CHECK_TEXT(err.text,
 * "did you mean");            the string holds this part
 *     }
 *
 * A claim runs in a process of its own (tests/main.c), so it may crash, leak or hang without harm to the others. It
 * belongs to the room whose folder under tests/ its file is in. One that checks nothing fails. CLAIM_LONG is for what
 * takes many seconds: it is left out unless SLUICE_LONG_TESTS=1.
 */
#ifndef SLUICE_TESTS_CLAIM_H
#define SLUICE_TESTS_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

struct claim {
    const char *text, *file;
    int line;
    bool is_long;
    void (*body)(void);
    struct claim *next;
};

/* A checked value of any scalar type, kept for the message. */
struct claim_value {
    enum claim_kind { CLAIM_SIGNED, CLAIM_UNSIGNED, CLAIM_REAL, CLAIM_STRING, CLAIM_POINTER } kind;
    union {
        long long i;
        unsigned long long u;
        double r;
        const char *s;
        const void *p;
    };
};

/* Where a check stands in the source. */
struct claim_place {
    const char *file;
    int line;
};

void claim_register(struct claim *claim);

bool claim_check(struct claim_place place, const char *expression, bool holds);
bool claim_check_eq(struct claim_place place, const char *a_text, const char *b_text, struct claim_value a,
                    struct claim_value b);
bool claim_check_near(struct claim_place place, const char *a_text, const char *b_text, double a, double b,
                      double relative_tolerance);
bool claim_check_text(struct claim_place place, const char *expression, const char *text, const char *part);
_Noreturn void claim_give_up(void);

static inline struct claim_value claim_signed(long long i) {
    return (struct claim_value){.kind = CLAIM_SIGNED, .i = i};
}
static inline struct claim_value claim_unsigned(unsigned long long u) {
    return (struct claim_value){.kind = CLAIM_UNSIGNED, .u = u};
}
static inline struct claim_value claim_real(double r) { return (struct claim_value){.kind = CLAIM_REAL, .r = r}; }
static inline struct claim_value claim_string(const char *s) {
    return (struct claim_value){.kind = CLAIM_STRING, .s = s};
}
static inline struct claim_value claim_pointer(const void *p) {
    return (struct claim_value){.kind = CLAIM_POINTER, .p = p};
}

#define CLAIM_VALUE(x) \
    _Generic((x), \
    _Bool: claim_unsigned, unsigned char: claim_unsigned, unsigned short: claim_unsigned, unsigned int: claim_unsigned, \
    unsigned long: claim_unsigned, unsigned long long: claim_unsigned, \
    char: claim_signed, signed char: claim_signed, short: claim_signed, int: claim_signed, long: claim_signed, \
    long long: claim_signed, float: claim_real, double: claim_real, \
    char *: claim_string, const char *: claim_string, default: claim_pointer)(x)

#define CLAIM_PLACE ((struct claim_place){__FILE__, __LINE__})

#define CHECK(condition) claim_check(CLAIM_PLACE, #condition, (condition))
#define CHECK_EQ(a, b)   claim_check_eq(CLAIM_PLACE, #a, #b, CLAIM_VALUE(a), CLAIM_VALUE(b))
#define CHECK_NEAR(a, b, relative_tolerance) \
    claim_check_near(CLAIM_PLACE, #a, #b, (double)(a), (double)(b), (relative_tolerance))
#define CHECK_TEXT(text, part) claim_check_text(CLAIM_PLACE, #text, (text), (part))
#define REQUIRE(condition) \
    do { \
        if (!claim_check(CLAIM_PLACE, #condition, (condition))) claim_give_up(); \
    } while (0)

#define CLAIM(text_)                  CLAIM_AT(text_, false, __LINE__)
#define CLAIM_LONG(text_)             CLAIM_AT(text_, true, __LINE__)
#define CLAIM_AT(text_, long_, line_) CLAIM_IN(text_, long_, line_)
#define CLAIM_IN(text_, long_, line_) \
    static void claim_body_##line_(void); \
    __attribute__((constructor)) static void claim_register_##line_(void) { \
        static struct claim claim = { \
            .text = text_, .file = __FILE__, .line = line_, .is_long = long_, .body = claim_body_##line_}; \
        claim_register(&claim); \
    } \
    static void claim_body_##line_(void)

#endif
