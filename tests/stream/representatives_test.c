/* Launches that represent a program: profiles with known sets. */
#include "stream/representatives.h"

#include <stdio.h>

#include "test.h"
#include "work.h"

static struct launch_profile profile(const char *name, uint32_t ctas, uint64_t instructions, uint64_t loads) {
    struct launch_profile profile = {.kernel = {.grid = {ctas, 1, 1}, .block = {128, 1, 1}},
                                     .warp_instructions = instructions,
                                     .thread_instructions = 32 * instructions,
                                     .accesses = loads,
                                     .blocks = loads};
    snprintf(profile.kernel.name, sizeof profile.kernel.name, "%s", name);
    profile.ops[OP_load] = loads;
    profile.ops[OP_other] = instructions - loads;
    return profile;
}

TEST("launches of two kernels and two sizes are three sets, each represented by its mean") {
    struct launch_profile launch[] = {
        profile("a", 10, 1000, 100), profile("b", 10, 500, 400),  profile("a", 10, 1020, 100),
        profile("a", 80, 9000, 900), profile("a", 10, 1010, 100), profile("b", 10, 500, 400),
        profile("a", 80, 9600, 900),
    };
    struct launch_profiles profiles = {.launch = launch, .count = COUNT_OF(launch)};
    struct representative chosen[3];
    REQUIRE(representatives_choose(&profiles, 3, chosen) == 3);
    CHECK_EQ(chosen[0].launch, 1u); /* the first of equals */
    CHECK_EQ(chosen[0].launches, 2u);
    CHECK_EQ(chosen[0].weight, 2.0);
    CHECK_EQ(chosen[1].launch, 3u);
    CHECK_EQ(chosen[1].launches, 2u);
    CHECK_EQ(chosen[1].weight, 18600.0 / 9000);
    CHECK_EQ(chosen[2].launch, 4u);
    CHECK_EQ(chosen[2].launches, 3u);
    CHECK_EQ(chosen[2].weight, 3.0);
}

TEST("equal launches need one representative; all are taken if the limit allows") {
    struct launch_profile launch[] = {profile("a", 4, 100, 10), profile("a", 4, 100, 10), profile("a", 4, 100, 10)};
    struct launch_profiles profiles = {.launch = launch, .count = COUNT_OF(launch)};
    struct representative chosen[3];
    REQUIRE(representatives_choose(&profiles, 3, chosen) == 3);
    CHECK_EQ(chosen[2].launch, 2u);
    CHECK_EQ(chosen[2].weight, 1.0);
    REQUIRE(representatives_choose(&profiles, 2, chosen) == 1);
    CHECK_EQ(chosen[0].launch, 0u);
    CHECK_EQ(chosen[0].weight, 3.0);
}

TEST("the mix of instructions and the blocks of an access separate launches of the same size") {
    struct launch_profile launch[] = {profile("a", 4, 1000, 10), profile("a", 4, 1000, 500),
                                      profile("a", 4, 1000, 500)};
    launch[2].blocks *= 32;
    struct launch_profiles profiles = {.launch = launch, .count = COUNT_OF(launch)};
    struct representative chosen[3];
    CHECK_EQ(representatives_choose(&profiles, 3, chosen), 3u);
}

TEST("a program's profiles have its kernels and all its instructions") {
    struct error err = {0};
    struct launch_profiles profiles;
    struct stream_source *source = work_open("2mm:tiny", false, &err);
    REQUIRE(source && profiles_take(source, &profiles, &err));
    REQUIRE(profiles.count == 2);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t sum = 0;
        for (unsigned op = 0; op < OP_COUNT; op++) sum += profiles.launch[i].ops[op];
        CHECK_EQ(sum, profiles.launch[i].warp_instructions);
        CHECK(profiles.launch[i].accesses > 0 && profiles.launch[i].blocks >= profiles.launch[i].accesses);
        CHECK_EQ(profiles.launch[i].ops[OP_exit],
                 kernel_ctas(&profiles.launch[i].kernel) * kernel_warps(&profiles.launch[i].kernel));
    }
    profiles_release(&profiles);
    source->ops->destroy(source);
}
