#include "l1/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    FILE *in;
    char *text;
    size_t room;
    unsigned line;
    struct error *err;
};

static bool blame(const struct reader *reader, unsigned column, const char *what) {
    return error_at(reader->err, reader->path, reader->line, column, "%s", what);
}

/* Reads the next line, without its newline; false at the end of the file. */
static bool next_line(struct reader *reader) {
    ssize_t length = getline(&reader->text, &reader->room, reader->in);
    if (length < 0 && errno == ENOMEM && !feof(reader->in)) mem_exhausted();
    if (length < 0) return false;
    reader->line++;
    if (length && reader->text[length - 1] == '\n') reader->text[length - 1] = '\0';
    return true;
}

/* Matches the line against a pattern, in which %d and %x are numbers and everything else is literal. */
static bool scan(const struct reader *reader, const char *pattern, const char *what, uint64_t *number) {
    const char *at = reader->text;
    for (; *pattern; pattern++) {
        if (*pattern != '%') {
            if (*at != *pattern) break;
            at++;
            continue;
        }
        int base = *++pattern == 'x' ? 16 : 10;
        char *end;
        errno = 0;
        *number = strtoull(at, &end, base);
        bool digit = base == 16 ? strspn(at, "0123456789abcdef") > 0 : strspn(at, "0123456789") > 0;
        if (!digit || errno) break;
        number++;
        at = end;
    }
    return (*pattern == '\0' && *at == '\0') || blame(reader, (unsigned)(at - reader->text) + 1, what);
}

static bool read_head(struct reader *reader, struct profile_shape shape) {
    uint64_t number[2];
    if (!next_line(reader))
        return reader->line = 1, blame(reader, 1, "empty file; a profile begins with 'sluice profile 1'");
    if (!scan(reader, "sluice profile 1", "not a profile: the first line must be 'sluice profile 1'", number))
        return false;
    if (!next_line(reader)) return blame(reader, 1, "missing line 'sms N line_bytes N'");
    if (!scan(reader, "sms %d line_bytes %d", "expected 'sms N line_bytes N'", number)) return false;
    if (number[0] == shape.sms && number[1] == shape.line_bytes) return true;
    return error_at(reader->err, reader->path, reader->line, 1,
                    "the profile is for %" PRIu64 " SMs and lines of %" PRIu64
                    " B, and this machine has %u SMs and lines of %u B; record a new profile",
                    number[0], number[1], shape.sms, shape.line_bytes);
}

static bool read_section_head(struct reader *reader, struct profile *profile, uint64_t *section) {
    enum { KERNELS_MAX = 100000 };
    if (!scan(reader, "kernel %d sm %d", "expected 'kernel N sm N'", section)) return false;
    if (section[0] >= KERNELS_MAX) return blame(reader, 8, "the kernel number must be less than 100000");
    if (section[1] >= profile->shape.sms) return blame(reader, 1, "the SM number must be less than the number of SMs");
    while (profile->kernels <= section[0]) {
        profile->kernel = mem_grow(profile->kernel, profile->kernels + 1u, sizeof *profile->kernel);
        struct profile_kernel *kernel = &profile->kernel[profile->kernels++];
        kernel->sm = mem_alloc(profile->shape.sms, sizeof *kernel->sm);
        for (unsigned sm = 0; sm < profile->shape.sms; sm++) line_map_init(&kernel->sm[sm]);
        line_map_init(&kernel->whole);
    }
    return true;
}

static bool read_sections(struct reader *reader, struct profile *profile) {
    uint64_t section[2], number[2];
    while (next_line(reader)) {
        if (!profile->kernels || reader->text[0] == 'k') {
            if (!read_section_head(reader, profile, section)) return false;
            continue;
        }
        if (!scan(reader, "%x %d", "expected a line number in hexadecimal and its number of reads, or 'kernel N sm N'",
                  number))
            return false;
        if (number[1] == 0) return blame(reader, 1, "the number of reads must be at least 1");
        struct profile_kernel *kernel = &profile->kernel[section[0]];
        profile_count(&kernel->sm[section[1]], number[0], number[1]);
        profile_count(&kernel->whole, number[0], number[1]);
    }
    return !ferror(reader->in) || error_set(reader->err, "%s: %s", reader->path, strerror(errno));
}

struct profile *profile_read(const char *path, struct profile_shape shape, struct error *err) {
    struct reader reader = {.path = path, .in = fopen(path, "r"), .err = err};
    if (!reader.in) {
        error_set(err, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct profile *profile = mem_alloc(1, sizeof *profile);
    profile->shape = shape;
    bool good = read_head(&reader, shape) && read_sections(&reader, profile);
    fclose(reader.in);
    free(reader.text);
    if (good) return profile;
    profile_destroy(profile);
    return NULL;
}

void profile_destroy(struct profile *profile) {
    if (!profile) return;
    for (unsigned k = 0; k < profile->kernels; k++) {
        for (unsigned sm = 0; sm < profile->shape.sms; sm++) line_map_release(&profile->kernel[k].sm[sm]);
        line_map_release(&profile->kernel[k].whole);
        free(profile->kernel[k].sm);
    }
    free(profile->kernel);
    free(profile);
}

void profile_write_head(FILE *out, struct profile_shape shape) {
    fprintf(out, "sluice profile 1\nsms %u line_bytes %u\n", shape.sms, shape.line_bytes);
}

static int by_line(const void *a, const void *b) {
    uint64_t left = ((const struct line_entry *)a)->line, right = ((const struct line_entry *)b)->line;
    return (left > right) - (left < right);
}

void profile_write_section(FILE *out, unsigned kernel, unsigned sm, const struct line_map *counts) {
    if (!counts->used) return;
    struct line_entry *sorted = mem_alloc(counts->used, sizeof *sorted);
    uint64_t count = 0;
    for (struct line_entry *entry = line_map_next(counts, NULL); entry; entry = line_map_next(counts, entry))
        sorted[count++] = *entry;
    qsort(sorted, count, sizeof *sorted, by_line);
    fprintf(out, "kernel %u sm %u\n", kernel, sm);
    for (uint64_t i = 0; i < count; i++) fprintf(out, "%" PRIx64 " %" PRIu64 "\n", sorted[i].line, sorted[i].value[0]);
    free(sorted);
}
