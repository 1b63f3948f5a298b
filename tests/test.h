/* The test framework: a test is a sentence and a body.
 *
 *     TEST("a row hit needs no activate") {
 *         struct dram *dram = dram_create(...);
 *         REQUIRE(dram);                        ends the test if it fails: the rest is meaningless without it
 *         CHECK(dram_idle(dram));               reports a failure and goes on
 *         CHECK_EQ(dram->activates, 1u);        integers of any two types, reals, pointers; char * by content
 *         CHECK_NEAR(latency, 220.0, 0.01);     within one per cent of the second value
 *         CHECK_TEXT(err.text, "did you mean"); the string contains this part
 *     }
 *
 * A test runs in a separate process (tests/main.c), so it may crash, leak or hang without harm to the others. It
 * belongs to the module whose folder under tests/ its file is in. A test without a check fails. TEST_LONG is for tests
 * that take many seconds: they run only with SLUICE_LONG_TESTS=1. TEST_LONG_SANITIZED is for tests that take many seconds
 * under sanitizers only, and whose code shorter tests execute, too: long tests there, and plain ones elsewhere.
 */
#ifndef SLUICE_TESTS_TEST_H
#define SLUICE_TESTS_TEST_H

#include <stdbool.h>
#include <stddef.h>

struct test {
    const char *text, *file;
    int line;
    bool is_long;
    void (*body)(void);
    struct test *next;
};

/* A checked value of any scalar type, kept for the message. */
struct test_value {
    enum test_kind { TEST_SIGNED, TEST_UNSIGNED, TEST_REAL, TEST_STRING, TEST_POINTER } kind;
    union {
        long long i;
        unsigned long long u;
        double r;
        const char *s;
        const void *p;
    };
};

/* Where a check stands in the source. */
struct test_place {
    const char *file;
    int line;
};

void test_register(struct test *test);

bool test_check(struct test_place place, const char *expression, bool holds);
bool test_check_eq(struct test_place place, const char *a_text, const char *b_text, struct test_value a,
                   struct test_value b);
bool test_check_near(struct test_place place, const char *a_text, const char *b_text, double a, double b,
                     double relative_tolerance);
bool test_check_text(struct test_place place, const char *expression, const char *text, const char *part);
_Noreturn void test_give_up(void);

static inline struct test_value test_signed(long long i) { return (struct test_value){.kind = TEST_SIGNED, .i = i}; }
static inline struct test_value test_unsigned(unsigned long long u) {
    return (struct test_value){.kind = TEST_UNSIGNED, .u = u};
}
static inline struct test_value test_real(double r) { return (struct test_value){.kind = TEST_REAL, .r = r}; }
static inline struct test_value test_string(const char *s) { return (struct test_value){.kind = TEST_STRING, .s = s}; }
static inline struct test_value test_pointer(const void *p) {
    return (struct test_value){.kind = TEST_POINTER, .p = p};
}

#define TEST_VALUE(x) \
    _Generic((x), \
    _Bool: test_unsigned, unsigned char: test_unsigned, unsigned short: test_unsigned, unsigned int: test_unsigned, \
    unsigned long: test_unsigned, unsigned long long: test_unsigned, \
    char: test_signed, signed char: test_signed, short: test_signed, int: test_signed, long: test_signed, \
    long long: test_signed, float: test_real, double: test_real, \
    char *: test_string, const char *: test_string, default: test_pointer)(x)

#define TEST_PLACE ((struct test_place){__FILE__, __LINE__})

#define CHECK(condition) test_check(TEST_PLACE, #condition, (condition))
#define CHECK_EQ(a, b)   test_check_eq(TEST_PLACE, #a, #b, TEST_VALUE(a), TEST_VALUE(b))
#define CHECK_NEAR(a, b, relative_tolerance) \
    test_check_near(TEST_PLACE, #a, #b, (double)(a), (double)(b), (relative_tolerance))
#define CHECK_TEXT(text, part) test_check_text(TEST_PLACE, #text, (text), (part))
#define REQUIRE(condition) \
    do { \
        if (!test_check(TEST_PLACE, #condition, (condition))) test_give_up(); \
    } while (0)

#if defined __has_feature /* clang */
#define TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TEST_SANITIZED true
#else
#define TEST_SANITIZED false
#endif

#define TEST(text_)                  TEST_AT(text_, false, __LINE__)
#define TEST_LONG(text_)             TEST_AT(text_, true, __LINE__)
#define TEST_LONG_SANITIZED(text_)   TEST_AT(text_, TEST_SANITIZED, __LINE__)
#define TEST_AT(text_, long_, line_) TEST_IN(text_, long_, line_)
#define TEST_IN(text_, long_, line_) \
    static void test_body_##line_(void); \
    __attribute__((constructor)) static void test_register_##line_(void) { \
        static struct test test = { \
            .text = text_, .file = __FILE__, .line = line_, .is_long = long_, .body = test_body_##line_}; \
        test_register(&test); \
    } \
    static void test_body_##line_(void)

#endif
