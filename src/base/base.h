/* Base module: integer helpers and checked allocation for every other module. It contains nothing of the model. */
#ifndef SLUICE_BASE_BASE_H
#define SLUICE_BASE_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define LIKELY(x)       __builtin_expect(!!(x), 1)
#define UNLIKELY(x)     __builtin_expect(!!(x), 0)
#define ALWAYS_INLINE   inline __attribute__((always_inline)) /* for functions as cheap as the call */
#define NEVER_INLINE \
    __attribute__((noinline)) /* for rare paths and inner loops: reduces register pressure on both sides */

/* A time that is never reached. */
#define NEVER UINT64_MAX

static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t div_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
static inline bool is_power_of_two(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

static inline unsigned log2_floor(uint64_t x) { return x == 0 ? 0 : 63u - (unsigned)__builtin_clzll(x); }

static inline unsigned lowest_bit(uint64_t x) { return (unsigned)__builtin_ctzll(x); }
/* The same; 64 if x is 0. */
static inline unsigned lowest_bit_or_64(uint64_t x) {
#ifdef __BMI__
    return (unsigned)__builtin_ia32_tzcnt_u64(x); /* without a branch, which gcc 12 makes of the other expression */
#else
    return x ? lowest_bit(x) : 64;
#endif
}

static inline uint64_t round_up_power_of_two(uint64_t x) { return x <= 1 ? 1 : UINT64_C(1) << (log2_floor(x - 1) + 1); }

/* A mask of the lowest n bits, n from 0 to 64. */
static inline uint64_t low_mask(unsigned n) { return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1; }

/* Zeroed memory for `count` objects. The model cannot recover from running out of memory: instead of returning NULL,
 * these functions call mem_exhausted(). */
void *mem_alloc(size_t count, size_t size);
/* As mem_alloc, aligned to a 64-byte cache line of the host. */
void *mem_alloc_lines(size_t count, size_t size);
void *mem_grow(void *old, size_t count, size_t size);
char *mem_text(const char *text);

/* Calls the handler, which ends the process; without one, aborts. */
_Noreturn void mem_exhausted(void);
/* Sets the handler of this process. It must not allocate memory. */
void mem_on_exhaustion(void (*handler)(void));

/* printf into newly allocated memory. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The entry of `names` closest to a mistyped `word`; if none is close, the shortest that begins with it; else NULL. */
const char *nearest_name(const char *word, const char *const *names, size_t count);
/* The same with a bound for the letters that differ, for long lists of short names, of which some are close to any word. */
const char *nearest_name_within(const char *word, const char *const *names, size_t count, size_t limit);

#endif
