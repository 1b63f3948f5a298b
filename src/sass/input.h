/* The text of a trace file, line by line: plain, or compressed by gzip, xz or zstd, which the first bytes of the file
 * determine, not its name. Memory is bounded: one buffer of text, one of compressed bytes and the state of the
 * decompressor, at most SASS_DECODER_BYTES; a file that needs more is rejected.
 *
 * The file is read at explicit offsets, so that a process can be forked and both sides continue. */
#ifndef SLUICE_SASS_INPUT_H
#define SLUICE_SASS_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SASS_LINE_BYTES = 1 << 16, SASS_DECODER_BYTES = 96 << 20 };

struct sass_input;

struct sass_text {
    const char *at, *end;
};

/* NULL with an error that names the file. The path must outlive the input. */
struct sass_input *sass_input_open(const char *path, struct error *err);
void sass_input_close(struct sass_input *input);

/* The next line without its end; it is valid until the next call. False at the end of the file, and with an error if
 * the file cannot be read or decompressed. */
bool sass_input_line(struct sass_input *input, struct sass_text *line, struct error *err);

/* Number of the line read last, from 1; text read so far, decompressed. */
unsigned sass_input_line_number(const struct sass_input *input);
uint64_t sass_input_bytes(const struct sass_input *input);

#endif
