#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void (*on_exhaustion)(void);

void mem_on_exhaustion(void (*handler)(void)) { on_exhaustion = handler; }

void mem_exhausted(void) {
    if (on_exhaustion) on_exhaustion();
    abort();
}

void *mem_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) mem_exhausted();
    return memory;
}

void *mem_alloc_lines(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size ? size : 1, &bytes)) mem_exhausted();
    bytes = (bytes + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, bytes);
    if (!memory) mem_exhausted();
    return memset(memory, 0, bytes);
}

void *mem_grow(void *old, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count ? count : 1, size ? size : 1, &bytes)) mem_exhausted();
    void *memory = realloc(old, bytes);
    if (!memory) mem_exhausted();
    return memory;
}

char *mem_text(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(mem_alloc(bytes, 1), text, bytes);
}

char *text_format(const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mem_alloc((size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

/* Damerau-Levenshtein distance (optimal string alignment), letters compared without case. */
static size_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    size_t rows[3][LONGEST + 2];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return SIZE_MAX;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            bool same = strncasecmp(&a[i - 1], &b[j - 1], 1) == 0;
            size_t best = last[j - 1] + !same;
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

const char *nearest_name(const char *word, const char *const *names, size_t count) {
    return nearest_name_within(word, names, count, strlen(word) / 3 + 1);
}

const char *nearest_name_within(const char *word, const char *const *names, size_t count, size_t limit) {
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, names[i]);
        if (distance <= limit) {
            best = names[i];
            limit = distance - (distance > 0); /* only a closer name replaces it */
            if (distance == 0) break;
        }
    }
    if (best || strlen(word) < 3) return best;
    for (size_t i = 0; i < count; i++) /* a word of three letters or more may be the beginning of a name */
        if (strncasecmp(word, names[i], strlen(word)) == 0 && (!best || strlen(names[i]) < strlen(best)))
            best = names[i];
    return best;
}
