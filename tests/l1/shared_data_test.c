#include "l1/shared_data.h"

#include "l1/observer_fixture.h"

static struct observer_fixture *observed(void) {
    struct observer_fixture *fixture = observer_fixture_create();
    shared_data_observe(&fixture->fake.l1, &(struct l1_context){.stats = fixture->stats, .sms = 3});
    return fixture;
}

/* Lines, of these only read; hits, pending and misses of their reads. */
static void check_counts(const struct observer_fixture *fixture, const uint64_t *expected) {
    static const char *const names[] = {"lines", "read_only_lines", "hits", "pending", "misses"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) CHECK_EQ(count_of(fixture, "shared_data", names[i]), expected[i]);
}
#define CHECK_COUNTS(fixture, ...) check_counts(fixture, (const uint64_t[]){__VA_ARGS__})

TEST("a line is shared data from the access of a second SM on, and its earlier reads count, too") {
    struct observer_fixture *fixture = observed();
    access_as(fixture, 0, 'A', MESSAGE_READ, L1_MISS);
    access_as(fixture, 0, 'A', MESSAGE_READ, L1_PENDING_HIT);
    access_as(fixture, 0, 'A', MESSAGE_READ, L1_HIT);
    access_as(fixture, 2, 'B', MESSAGE_READ, L1_MISS); /* stays private */
    CHECK_COUNTS(fixture, 0, 0, 0, 0, 0);
    access_as(fixture, 2, 'A', MESSAGE_READ, L1_FAIL_MSHR); /* a reservation failure: nothing changes */
    CHECK_COUNTS(fixture, 0, 0, 0, 0, 0);
    access_as(fixture, 2, 'A', MESSAGE_READ, L1_BYPASS);
    CHECK_COUNTS(fixture, 1, 1, 1, 1, 2);
    access_as(fixture, 1, 'A', MESSAGE_READ, L1_HIT);
    CHECK_COUNTS(fixture, 1, 1, 2, 1, 2);
    observer_fixture_destroy(fixture);
}

TEST("shared data written in the kernel is not read-only, and data that nobody reads is not shared data") {
    struct observer_fixture *fixture = observed();
    access_as(fixture, 0, 'A', MESSAGE_READ, L1_MISS);
    access_as(fixture, 1, 'A', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(fixture, 1, 1, 0, 0, 2);
    access_as(fixture, 1, 'A', MESSAGE_ATOMIC, L1_SENT);
    access_as(fixture, 0, 'A', MESSAGE_WRITE, L1_SENT);
    CHECK_COUNTS(fixture, 1, 0, 0, 0, 2);
    access_as(fixture, 0, 'B', MESSAGE_WRITE, L1_SENT);
    access_as(fixture, 1, 'B', MESSAGE_WRITE, L1_SENT);
    CHECK_COUNTS(fixture, 1, 0, 0, 0, 2);
    access_as(fixture, 1, 'B', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(fixture, 2, 0, 0, 0, 3);
    observer_fixture_destroy(fixture);
}

TEST("sharing is counted per kernel: no line is shared data at the start of the next") {
    struct observer_fixture *fixture = observed();
    access_as(fixture, 0, 'A', MESSAGE_WRITE, L1_SENT);
    for (unsigned sm = 0; sm < 3; sm++) fixture->fake.l1.ops->flush(&fixture->fake.l1, sm);
    CHECK_EQ(fixture->fake.flushes, 3u);
    access_as(fixture, 1, 'A', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(fixture, 0, 0, 0, 0, 0);
    access_as(fixture, 2, 'A', MESSAGE_READ, L1_MISS);
    CHECK_COUNTS(fixture, 1, 1, 0, 0, 2);
    observer_fixture_destroy(fixture);
}

TEST("thread-local memory and reads by other caches of an SM are not shared data") {
    struct observer_fixture *fixture = observed();
    struct l1_request local = {.address = 128, .kind = MESSAGE_READ, .local = true},
                      code = {.address = 128, .kind = MESSAGE_READ, .warp = L1_NO_WARP, .bypass = true};
    for (unsigned sm = 0; sm < 2; sm++) {
        fixture->fake.l1.ops->access(&fixture->fake.l1, sm, &local, 0);
        fixture->fake.l1.ops->access(&fixture->fake.l1, sm, &code, 0);
    }
    CHECK_COUNTS(fixture, 0, 0, 0, 0, 0);
    observer_fixture_destroy(fixture);
}
