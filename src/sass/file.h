/* A kernel file: its header, then thread blocks, in any order, each with its warps:
 *
 *     #BEGIN_TB
 *     thread block = x,y,z
 *     warp = n
 *     insts = n, followed by n instruction lines
 *     #END_TB
 *
 * Reading is a sequence of events, checked against the grid: every thread block once, every warp of it once. */
#ifndef SLUICE_SASS_FILE_H
#define SLUICE_SASS_FILE_H

#include "sass/header.h"
#include "sass/line.h"
#include "sass/pages.h"

struct sass_file;

enum sass_event {
    SASS_CTA,     /* `cta` begins */
    SASS_WARP,    /* `warp` begins, with `lines` lines */
    SASS_LINE,    /* an instruction: `line`, and its `text`; `lines` follow */
    SASS_CTA_END, /* all warps of it have been read */
    SASS_END,     /* all thread blocks have been read */
    SASS_FAILED,
};

struct sass_file_state {
    uint64_t cta; /* in grid order, x fastest */
    uint32_t warp;
    uint64_t lines;
    struct sass_line line;
    struct sass_text text;
};

/* Reads the header. The path must outlive the file. */
struct sass_file *sass_file_open(const char *path, struct error *err);
void sass_file_close(struct sass_file *file);
const struct sass_header *sass_file_header(const struct sass_file *file);
/* Text read so far, decompressed. */
uint64_t sass_file_bytes(const struct sass_file *file);

enum sass_event sass_file_next(struct sass_file *file, struct error *err);
/* Valid until the next event. */
const struct sass_file_state *sass_file_state(const struct sass_file *file);
/* An error at the line of the last event. */
bool sass_file_reject(const struct sass_file *file, struct error *err, const char *problem);
/* Whether the CTA has been read completely. */
bool sass_file_has(const struct sass_file *file, uint64_t cta);
/* Whether all have been. */
bool sass_file_complete(const struct sass_file *file);

/* Whether any kernel file has atomics on memory that CTAs share, and tensor instructions, which the machine needs to know
 * before the first kernel. */
struct sass_uses {
    bool atomics, tensor;
};
/* Adds what a kernel file uses, and the pages of global memory that the kernel writes (scan.c). `goes_on` is called
 * periodically; false ends the scan. */
bool sass_scan(const char *path, struct sass_uses *uses, struct sass_pages *written, bool (*goes_on)(void *user),
               void *user, struct error *err);

#endif
