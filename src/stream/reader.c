#include "stream/reader.h"

#include <stdlib.h>

static bool goes_on(const struct stream_source *source) {
    return !source->patience || source->patience(source->patience_user);
}

/* False if it is interrupted. */
static bool read_warp(const struct reader *reader, struct stream_source *source, struct warp_stream *warp) {
    enum { CHECK_REFILLS = 1024 };
    unsigned refills = 0;
    source->ops->open(source, warp);
    do {
        if (refills++ % CHECK_REFILLS == 0 && !goes_on(source)) return false;
        source->ops->refill(source, warp);
        if (warp->count == 0) break;
        reader->take(reader->user, warp);
    } while (warp->instr[warp->count - 1].op != OP_exit);
    return true;
}

/* A failed source ends all further streams at once; they need not be read. */
static bool has_failed(const struct stream_source *source) {
    return source->ops->failure && source->ops->failure(source);
}

bool reader_run(const struct reader *reader, struct stream_source *source, struct error *err) {
    struct warp_stream *warp = mem_alloc(1, sizeof *warp);
    struct kernel kernel;
    bool good = true;
    while (good && source->ops->next_kernel(source, &kernel)) {
        reader->begin(reader->user, &kernel);
        for (warp->cta = 0; good && warp->cta < kernel_ctas(&kernel) && !has_failed(source); warp->cta++)
            for (warp->warp = 0; good && warp->warp < kernel_warps(&kernel); warp->warp++)
                good = read_warp(reader, source, warp);
    }
    free(warp);
    if (!goes_on(source)) return error_set(err, "interrupted");
    const char *failure = source->ops->failure ? source->ops->failure(source) : NULL;
    return !failure || error_set(err, "%s", failure);
}
