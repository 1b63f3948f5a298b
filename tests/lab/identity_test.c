/* Identities change with everything that can change a result, and with nothing else. */
#include "lab/identity.h"

#include <string.h>

#include "settings.h"
#include "test.h"

static void identity(const char *setting, const char *job, uint64_t max_insts, uint64_t sample, const char *after,
                     char text[IDENTITY_LENGTH + 1]) {
    struct config *config = config_with(SETTINGS(setting)); /* `setting` may be NULL */
    identity_of(config, job, max_insts, sample, sample == 6 ? "llc.replies" : NULL, after, text);
    config_destroy(config);
}

TEST("the identity changes with every part of a run") {
    char plain[IDENTITY_LENGTH + 1], again[IDENTITY_LENGTH + 1], other[7][IDENTITY_LENGTH + 1];
    identity(NULL, "mm:tiny", 0, 0, NULL, plain);
    CHECK(identity_is(plain, strlen(plain)));
    identity(NULL, "mm:tiny", 0, 0, NULL, again);
    CHECK_EQ(plain, again);
    identity("sm.warp_scheduler=lrr", "mm:tiny", 0, 0, NULL, other[0]);
    identity(NULL, "mm:small", 0, 0, NULL, other[1]);
    identity(NULL, "mm:tiny", 5, 0, NULL, other[2]);
    identity(NULL, "mm:tiny", 0, 5, NULL, other[3]);
    identity(NULL, "mm:tiny", 0, 0, plain, other[4]);
    identity("llc.slice_kb=128", "mm:tiny", 0, 0, NULL, other[5]);
    identity(NULL, "mm:tiny", 0, 6, NULL, other[6]);
    for (int i = 0; i < 7; i++) {
        CHECK(strcmp(plain, other[i]) != 0);
        for (int k = 0; k < i; k++) CHECK(strcmp(other[k], other[i]) != 0);
    }
}

TEST("the identity ignores the notation of values and unused parameters") {
    char plain[IDENTITY_LENGTH + 1], other[IDENTITY_LENGTH + 1];
    identity("sm.warp_scheduler=gto", "mm:tiny", 0, 0, NULL, plain);
    identity("sm.warp_scheduler=\"gto\"", "mm:tiny", 0, 0, NULL, other);
    CHECK_EQ(plain, other);
    identity("sm.two-level.group_warps=4", "mm:tiny", 0, 0, NULL, other); /* of a scheduler that is not in use */
    CHECK_EQ(plain, other);
}

TEST("an identity has 32 hexadecimal digits") {
    CHECK(identity_is("0123456789abcdef0123456789abcdef", 32));
    CHECK(!identity_is("0123456789abcdef0123456789abcde", 31));
    CHECK(!identity_is("0123456789ABCDEF0123456789abcdef", 32));
    CHECK_EQ(strlen(identity_model()), 32u);
}
