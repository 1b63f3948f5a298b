/* Trials in forked processes. */
#include "gpu/lookahead.h"

#include <unistd.h>

#include "test.h"

static unsigned choose(const double *scores, unsigned choices) {
    struct lookahead lookahead = {0};
    struct error err = {0};
    unsigned choice = 99;
    REQUIRE(lookahead_choose(&lookahead, choices, &choice, &err));
    if (lookahead_on_trial(&lookahead)) lookahead_report(&lookahead, scores[choice]);
    return choice;
}

TEST("chooses the candidate with the best trial, and the first of equals") {
    CHECK_EQ(choose((double[]){1, 3, 2}, 3), 1u);
    CHECK_EQ(choose((double[]){2, 2, 2}, 3), 0u);
    CHECK_EQ(choose((double[]){0, 0, 5}, 3), 2u);
    CHECK_EQ(choose((double[]){7}, 1), 0u);
}

TEST("a trial changes nothing but what it reports") {
    struct lookahead lookahead = {0};
    struct error err = {0};
    unsigned choice, state = 10;
    REQUIRE(lookahead_choose(&lookahead, 3, &choice, &err));
    if (lookahead_on_trial(&lookahead)) {
        state += choice;
        lookahead_report(&lookahead, state);
    }
    CHECK_EQ(state, 10u);
    CHECK_EQ(choice, 2u);
}

TEST("a trial that dies without a report is an error, not a choice") {
    struct lookahead lookahead = {0};
    struct error err = {0};
    unsigned choice;
    bool chosen = lookahead_choose(&lookahead, 3, &choice, &err);
    if (lookahead_on_trial(&lookahead)) {
        if (choice == 1) _exit(3);
        lookahead_report(&lookahead, 1);
    }
    CHECK(!chosen);
    CHECK_EQ(err.text, "lookahead failed: trial 2 of 3 ended without a result");
}
