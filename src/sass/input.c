#include "sass/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "sass/decoder.h"

enum { TEXT_BYTES = 1 << 18, RAW_BYTES = 1 << 16, HEAD_BYTES = 512 };
_Static_assert((int)TEXT_BYTES > (int)SASS_LINE_BYTES, "a line fits");

struct sass_input {
    const char *path;
    int file;
    uint64_t offset;         /* of the next raw bytes in the file */
    bool ended;              /* all raw bytes have been read, and decompressed */
    struct decoder *decoder; /* NULL: plain text */
    const uint8_t *raw_at, *raw_end;
    bool raw_last; /* the file ends after these */
    unsigned line;
    uint64_t bytes;
    const char *at, *end; /* unread text */
    uint8_t raw[RAW_BYTES];
    char text[TEXT_BYTES];
};

/* More raw bytes of a compressed file. */
static bool read_raw(struct sass_input *in, struct error *err) {
    size_t count = file_read_at(in->file, in->raw, sizeof in->raw, in->offset);
    if (count < sizeof in->raw && errno) return error_set(err, "%s: %s", in->path, strerror(errno));
    in->raw_last = count < sizeof in->raw;
    in->offset += count;
    in->raw_at = in->raw;
    in->raw_end = in->raw + count;
    return true;
}

/* Whether the bytes cannot be text: control characters, or the beginning of a bzip2 file. */
static bool is_binary(const uint8_t *at, const uint8_t *end) {
    if (end - at > 3 && memcmp(at, "BZh", 3) == 0) return true;
    for (; at < end; at++)
        if (*at < '\t') return true;
    return false;
}

struct sass_input *sass_input_open(const char *path, struct error *err) {
    struct sass_input *in = mem_alloc(1, sizeof *in);
    struct stat status;
    in->path = path;
    in->at = in->end = in->text;
    in->file = open(path, O_RDONLY | O_CLOEXEC);
    bool good = in->file >= 0 && fstat(in->file, &status) == 0;
    if (!good) error_set(err, "%s: %s", path, strerror(errno));
    if (good && !S_ISREG(status.st_mode)) good = error_set(err, "%s: not a regular file", path);
    good = good && read_raw(in, err);
    if (!good) return sass_input_close(in), NULL;
    in->decoder = decoder_create(in->raw, (size_t)(in->raw_end - in->raw), SASS_DECODER_BYTES);
    const uint8_t *head_end = in->raw + min_u64((uint64_t)(in->raw_end - in->raw), HEAD_BYTES);
    if (in->decoder || !is_binary(in->raw, head_end)) return in;
    error_set(
        err, "%s: neither text nor compressed by gzip, xz or zstd, the compressions that are read; decompress the file",
        path);
    sass_input_close(in);
    return NULL;
}

void sass_input_close(struct sass_input *in) {
    if (in->file >= 0) close(in->file);
    decoder_destroy(in->decoder);
    free(in);
}

/* Appends decompressed text; at least one byte, unless the file ends. */
static bool decode(struct sass_input *in, char **end, struct error *err) {
    struct decoder_step step = {
        .out = (uint8_t *)*end,
        .out_end = (uint8_t *)in->text + sizeof in->text,
    };
    while (step.out == (uint8_t *)*end && !in->ended) {
        if (in->raw_at == in->raw_end && !in->raw_last && !read_raw(in, err)) return false;
        step.in = in->raw_at;
        step.in_end = in->raw_end;
        step.last = in->raw_last;
        const char *problem = decoder_run(in->decoder, &step);
        if (problem) return error_set(err, "%s: after line %u: %s", in->path, in->line, problem);
        bool stuck = step.in == in->raw_at && step.out == (uint8_t *)*end;
        in->raw_at = step.in;
        if (in->raw_at < in->raw_end || !in->raw_last || !stuck) continue;
        if (!decoder_complete(in->decoder))
            return error_set(err, "%s: after line %u: the compressed file is truncated", in->path, in->line);
        in->ended = true;
    }
    *end = (char *)step.out;
    return true;
}

/* Plain text goes to the buffer without a detour; its first bytes are in `raw`. */
static bool copy_plain(struct sass_input *in, char **end, struct error *err) {
    size_t room = (size_t)(in->text + sizeof in->text - *end), count = (size_t)(in->raw_end - in->raw_at);
    if (count) {
        count = count < room ? count : room;
        memcpy(*end, in->raw_at, count);
        in->raw_at += count;
        in->ended = in->raw_last && in->raw_at == in->raw_end;
    } else {
        count = file_read_at(in->file, *end, room, in->offset);
        if (count < room && errno) return error_set(err, "%s: %s", in->path, strerror(errno));
        in->ended = count < room;
        in->offset += count;
    }
    *end += count;
    return true;
}

/* Moves the beginning of a line to the front of the buffer and adds text after it. */
static bool more_text(struct sass_input *in, struct error *err) {
    size_t kept = (size_t)(in->end - in->at);
    if (kept > SASS_LINE_BYTES)
        return error_set(err, "%s:%u: the line is longer than %d bytes", in->path, in->line + 1, SASS_LINE_BYTES);
    memmove(in->text, in->at, kept);
    char *end = in->text + kept;
    bool good = in->decoder ? decode(in, &end, err) : copy_plain(in, &end, err);
    in->at = in->text;
    in->bytes += (uint64_t)(end - in->text) - kept;
    in->end = end;
    return good;
}

bool sass_input_line(struct sass_input *in, struct sass_text *line, struct error *err) {
    const char *stop;
    size_t searched = 0;
    while (!(stop = memchr(in->at + searched, '\n', (size_t)(in->end - in->at) - searched))) {
        if (in->ended) { /* the last line may lack its end */
            if (in->at == in->end) return false;
            stop = in->end;
            break;
        }
        searched = (size_t)(in->end - in->at);
        if (!more_text(in, err)) return false;
    }
    line->at = in->at;
    line->end = stop > in->at && stop[-1] == '\r' ? stop - 1 : stop;
    in->at = stop < in->end ? stop + 1 : stop;
    in->line++;
    return true;
}

unsigned sass_input_line_number(const struct sass_input *in) { return in->line; }
uint64_t sass_input_bytes(const struct sass_input *in) { return in->bytes; }
