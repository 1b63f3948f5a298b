#include "l1/shared_data.h"

#include "l1/fake.h"

static struct stand *stand_observed(void) {
    struct stand *stand = stand_make();
    shared_data_observe(&stand->fake.l1, &(struct l1_context){.stats = stand->stats, .sms = 3});
    return stand;
}

/* Lines, of these only read; hits, pending and misses of their reads. */
static void check_counts(const struct stand *stand, const uint64_t *expected) {
    static const char *const names[] = {"lines", "read_only_lines", "hits", "pending", "misses"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) CHECK_EQ(count_of(stand, "shared_data", names[i]), expected[i]);
}
#define CHECK_COUNTS(stand, ...) check_counts(stand, (const uint64_t[]){__VA_ARGS__})

TEST("a line is shared data from the access of a second SM on, and its reads before count, too") {
    struct stand *stand = stand_observed();
    access_as(stand, 0, 'A', MESSAGE_READ, L1_MISS);
    access_as(stand, 0, 'A', MESSAGE_READ, L1_PENDING_HIT);
    access_as(stand, 0, 'A', MESSAGE_READ, L1_HIT);
    access_as(stand, 2, 'B', MESSAGE_READ, L1_MISS); /* stays its own */
    CHECK_COUNTS(stand, 0, 0, 0, 0, 0);
    access_as(stand, 2, 'A', MESSAGE_READ, L1_FAIL_MSHR); /* refused: nothing has happened */
    CHECK_COUNTS(stand, 0, 0, 0, 0, 0);
    access_as(stand, 2, 'A', MESSAGE_READ, L1_BYPASS);
    CHECK_COUNTS(stand, 1, 1, 1, 1, 2);
    access_as(stand, 1, 'A', MESSAGE_READ, L1_HIT);
    CHECK_COUNTS(stand, 1, 1, 2, 1, 2);
    stand_end(stand);
}

TEST("shared data that anybody writes in the kernel is not read-only, and what nobody reads is no shared data") {
    struct stand *stand = stand_observed();
    access_as(stand, 0, 'A', MESSAGE_READ, L1_MISS);
    access_as(stand, 1, 'A', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(stand, 1, 1, 0, 0, 2);
    access_as(stand, 1, 'A', MESSAGE_ATOMIC, L1_SENT);
    access_as(stand, 0, 'A', MESSAGE_WRITE, L1_SENT);
    CHECK_COUNTS(stand, 1, 0, 0, 0, 2);
    access_as(stand, 0, 'B', MESSAGE_WRITE, L1_SENT);
    access_as(stand, 1, 'B', MESSAGE_WRITE, L1_SENT);
    CHECK_COUNTS(stand, 1, 0, 0, 0, 2);
    access_as(stand, 1, 'B', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(stand, 2, 0, 0, 0, 3);
    stand_end(stand);
}

TEST("sharing is a matter of one kernel: lines are others after its end") {
    struct stand *stand = stand_observed();
    access_as(stand, 0, 'A', MESSAGE_WRITE, L1_SENT);
    for (unsigned sm = 0; sm < 3; sm++) stand->fake.l1.ops->flush(&stand->fake.l1, sm);
    CHECK_EQ(stand->fake.flushes, 3u);
    access_as(stand, 1, 'A', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(stand, 0, 0, 0, 0, 0);
    access_as(stand, 2, 'A', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(stand, 1, 1, 0, 0, 2);
    stand_end(stand);
}

TEST("thread-local memory and what other caches of an SM read are no shared data") {
    struct stand *stand = stand_observed();
    struct l1_request local = {.address = 128, .kind = MESSAGE_READ, .local = true},
                      code = {.address = 128, .kind = MESSAGE_READ, .warp = L1_NO_WARP, .bypass = true};
    for (unsigned sm = 0; sm < 2; sm++) {
        stand->fake.l1.ops->access(&stand->fake.l1, sm, &local, 0);
        stand->fake.l1.ops->access(&stand->fake.l1, sm, &code, 0);
    }
    CHECK_COUNTS(stand, 0, 0, 0, 0, 0);
    stand_end(stand);
}
