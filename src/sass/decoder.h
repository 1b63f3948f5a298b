/* Decompressors behind one interface (decoder.c). */
#ifndef SLUICE_SASS_DECODER_H
#define SLUICE_SASS_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;

/* Bytes yet to be consumed, and space for those produced; both advance. */
struct decoder_step {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
    bool last; /* no input follows */
};

/* The decoder for data that begin with these bytes; NULL if they are not compressed. */
struct decoder *decoder_create(const uint8_t *head, size_t bytes, size_t memory_bytes);
/* Consumes or produces something, unless all of the last input is consumed and its content complete. Returns NULL, or
 * what is wrong with the data. */
const char *decoder_run(struct decoder *decoder, struct decoder_step *step);
/* Whether all data consumed so far are complete files. */
bool decoder_complete(const struct decoder *decoder);
void decoder_destroy(struct decoder *decoder);

#endif
