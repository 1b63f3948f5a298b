/* The observer of sharing at one slice: clusters that access a line, and SMs that read it as read-only, in a window. */
#include <stdio.h>
#include <stdlib.h>

#include "llc/sharing.h"
#include "llc/slice_fixture.h"

enum { ENDPOINTS = 80, WINDOW = 5000 };

struct sharing_fixture {
    struct slice_fixture *slice;
    struct sharing *sharing;
};

/* Endpoints 2n and 2n + 1 are in cluster n. */
static struct sharing_fixture sharing_fixture_create(const char *const *settings) {
    uint16_t cluster_of[ENDPOINTS];
    for (unsigned i = 0; i < ENDPOINTS; i++) cluster_of[i] = (uint16_t)(i / 2);
    struct slice_fixture *slice = slice_fixture_create(settings);
    struct sharing *sharing = sharing_create(WINDOW, cluster_of, ENDPOINTS, slice->base.stats);
    sharing_observe(sharing, slice->slice);
    return (struct sharing_fixture){slice, sharing};
}

static void sharing_fixture_destroy(struct sharing_fixture *fixture) {
    sharing_destroy(fixture->sharing);
    slice_fixture_destroy(fixture->slice);
}

static void access_from(struct slice_fixture *slice, unsigned source, uint64_t address, enum message_kind kind,
                        uint8_t flags) {
    ask(slice,
        (struct message){
            .address = address, .source = (uint16_t)source, .kind = (uint8_t)kind, .sectors = 1, .flags = flags});
}

/* Checks counters `sharing.NAME_BIN`; `bins` ends with NULL. */
static void check_bins(const struct slice_fixture *slice, const char *name, const char *const *bins,
                       const unsigned *expected) {
    for (; *bins; bins++, expected++) {
        char counter[40];
        snprintf(counter, sizeof counter, "sharing.%s_%s", name, *bins);
        if (COUNTER(slice, counter) != *expected) printf("%s\n", counter);
        CHECK_EQ(COUNTER(slice, counter), *expected);
    }
}

static const char *const cluster_bins[] = {"1", "2", "4", "8", "more", NULL};
static const char *const reader_bins[] = {"1", "2", "4", "8", "9", "more", NULL};

TEST("a line counts once in each window, by the clusters that access it") {
    struct sharing_fixture fixture = sharing_fixture_create(NO_SETTINGS);
    struct slice_fixture *slice = fixture.slice;
    for (unsigned window = 0; window < 2; window++) {
        for (unsigned line = 1; line <= 10; line++) /* of `line` clusters */
            for (unsigned source = 0; source < 2 * line; source++)
                access_from(slice, source, 0x1000 * line,
                            source / 2 % 3 == 0   ? MESSAGE_READ
                            : source / 2 % 3 == 1 ? MESSAGE_WRITE
                                                  : MESSAGE_ATOMIC,
                            0);
        settle(slice);
        while (slice->base.engine->now < (window + 1) * WINDOW) cycle(slice);
        slice->replies = slice->requests = 0;
    }
    check_bins(slice, "lines", cluster_bins, (const unsigned[]){1, 1, 2, 4, 2}); /* the first window has ended */
    sharing_finish(fixture.sharing);
    check_bins(slice, "lines", cluster_bins, (const unsigned[]){2, 2, 4, 8, 4});
    check_bins(slice, "read_only", reader_bins, (const unsigned[]){0, 0, 0, 0, 0, 0});
    sharing_finish(fixture.sharing); /* counts nothing twice */
    check_bins(slice, "lines", cluster_bins, (const unsigned[]){2, 2, 4, 8, 4});
    sharing_fixture_destroy(&fixture);
}

TEST("SMs that read a line as read-only are counted, and neither its other reads nor its writes") {
    struct sharing_fixture fixture = sharing_fixture_create(NO_SETTINGS);
    struct slice_fixture *slice = fixture.slice;
    for (unsigned line = 1; line <= 12; line += 1 + (line == 9)) /* of `line` SMs */
        for (unsigned source = 0; source < 20; source++) {
            access_from(slice, source, 0x1000 * line, MESSAGE_READ, source < line ? MESSAGE_READ_ONLY : 0);
            if (source == 19) access_from(slice, 30, 0x1000 * line, MESSAGE_WRITE, MESSAGE_READ_ONLY);
        }
    settle(slice);
    sharing_finish(fixture.sharing);
    check_bins(slice, "read_only", reader_bins, (const unsigned[]){1, 1, 2, 4, 1, 2});
    check_bins(slice, "lines", cluster_bins, (const unsigned[]){0, 0, 0, 0, 11});
    sharing_fixture_destroy(&fixture);
}

TEST("SMs beyond the 63rd count as one, and so do clusters") {
    struct sharing_fixture fixture = sharing_fixture_create(NO_SETTINGS);
    struct slice_fixture *slice = fixture.slice;
    for (unsigned source = 62; source < 70; source++)
        access_from(slice, source, 0x1000, MESSAGE_READ, MESSAGE_READ_ONLY);
    settle(slice);
    sharing_finish(fixture.sharing);
    check_bins(slice, "read_only", reader_bins, (const unsigned[]){0, 1, 0, 0, 0, 0});
    check_bins(slice, "lines", cluster_bins, (const unsigned[]){0, 0, 1, 0, 0}); /* clusters 31 to 34 */
    sharing_fixture_destroy(&fixture);
}

TEST("a write-through that misses counts for its line, and evictions and fills do not") {
    struct sharing_fixture fixture = sharing_fixture_create(SETTINGS("llc.organisation=private"));
    struct slice_fixture *slice = fixture.slice;
    for (unsigned source = 0; source < 6; source += 2) access_from(slice, source, 0x1000, MESSAGE_WRITE, 0);
    access_from(slice, 0, 0x2000, MESSAGE_READ, 0);
    settle(slice);
    sharing_finish(fixture.sharing);
    check_bins(slice, "lines", cluster_bins, (const unsigned[]){1, 0, 1, 0, 0});
    sharing_fixture_destroy(&fixture);
}
