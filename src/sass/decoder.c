#include "sass/decoder.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/base.h"

enum decoder_kind { DECODER_GZIP, DECODER_XZ, DECODER_ZSTD };

struct decoder {
    enum decoder_kind kind;
    bool complete;
    z_stream gzip;
    lzma_stream xz;
    ZSTD_DCtx *zstd;
};

static bool begins(const uint8_t *head, size_t bytes, const char *magic, size_t count) {
    return bytes >= count && memcmp(head, magic, count) == 0;
}

struct decoder *decoder_create(const uint8_t *head, size_t bytes, size_t memory_bytes) {
    enum { GZIP_WINDOW_BITS = 15 + 16 }; /* a gzip file, not a zlib stream */
    bool gzip = begins(head, bytes, "\x1f\x8b", 2), xz = begins(head, bytes, "\xfd\x37zXZ\0", 6),
         zstd = begins(head, bytes, "\x28\xb5\x2f\xfd", 4);
    if (!gzip && !xz && !zstd) return NULL;
    struct decoder *decoder = mem_alloc(1, sizeof *decoder);
    decoder->kind = gzip ? DECODER_GZIP : xz ? DECODER_XZ : DECODER_ZSTD;
    bool good;
    switch (decoder->kind) {
    case DECODER_GZIP: good = inflateInit2(&decoder->gzip, GZIP_WINDOW_BITS) == Z_OK; break;
    case DECODER_XZ: good = lzma_stream_decoder(&decoder->xz, memory_bytes, LZMA_CONCATENATED) == LZMA_OK; break;
    default:
        decoder->zstd = ZSTD_createDCtx();
        good = decoder->zstd &&
               !ZSTD_isError(ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, (int)log2_floor(memory_bytes)));
        break;
    }
    if (!good) mem_exhausted();
    return decoder;
}

static const char *run_gzip(struct decoder *decoder, struct decoder_step *step) {
    z_stream *gzip = &decoder->gzip;
    if (decoder->complete && step->in < step->in_end) { /* files may be concatenated */
        inflateReset(gzip);
        decoder->complete = false;
    }
    gzip->next_in = (Bytef *)(uintptr_t)step->in;
    gzip->avail_in = (uInt)(step->in_end - step->in);
    gzip->next_out = step->out;
    gzip->avail_out = (uInt)(step->out_end - step->out);
    int status = inflate(gzip, Z_NO_FLUSH);
    step->in = gzip->next_in;
    step->out = gzip->next_out;
    if (status == Z_MEM_ERROR) mem_exhausted();
    if (status == Z_STREAM_END) decoder->complete = true;
    if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR) return NULL;
    return gzip->msg ? gzip->msg : "the compressed data are damaged";
}

static const char *run_xz(struct decoder *decoder, struct decoder_step *step) {
    lzma_stream *xz = &decoder->xz;
    xz->next_in = step->in;
    xz->avail_in = (size_t)(step->in_end - step->in);
    xz->next_out = step->out;
    xz->avail_out = (size_t)(step->out_end - step->out);
    lzma_ret status = lzma_code(xz, step->last ? LZMA_FINISH : LZMA_RUN);
    step->in = xz->next_in;
    step->out = xz->next_out;
    switch (status) {
    case LZMA_STREAM_END: decoder->complete = true; return NULL;
    case LZMA_OK:
    case LZMA_BUF_ERROR: return NULL;
    case LZMA_MEM_ERROR: mem_exhausted();
    case LZMA_MEMLIMIT_ERROR: return "decompressing it needs too much memory; compress it with `xz -9` or less";
    default: return "the compressed data are damaged";
    }
}

static const char *run_zstd(struct decoder *decoder, struct decoder_step *step) {
    ZSTD_inBuffer in = {step->in, (size_t)(step->in_end - step->in), 0};
    ZSTD_outBuffer out = {step->out, (size_t)(step->out_end - step->out), 0};
    size_t left = ZSTD_decompressStream(decoder->zstd, &out, &in);
    step->in += in.pos;
    step->out += out.pos;
    if (ZSTD_isError(left)) return ZSTD_getErrorName(left);
    if (in.pos || out.pos) decoder->complete = left == 0;
    return NULL;
}

const char *decoder_run(struct decoder *decoder, struct decoder_step *step) {
    switch (decoder->kind) {
    case DECODER_GZIP: return run_gzip(decoder, step);
    case DECODER_XZ: return run_xz(decoder, step);
    default: return run_zstd(decoder, step);
    }
}

bool decoder_complete(const struct decoder *decoder) { return decoder->complete; }

void decoder_destroy(struct decoder *decoder) {
    if (!decoder) return;
    if (decoder->kind == DECODER_GZIP) inflateEnd(&decoder->gzip);
    if (decoder->kind == DECODER_XZ) lzma_end(&decoder->xz);
    ZSTD_freeDCtx(decoder->zstd);
    free(decoder);
}
