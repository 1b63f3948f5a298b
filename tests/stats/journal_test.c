#include "test.h"

#include "stats/journal.h"

TEST("equal decisions are counted together, with their first and last cycle in any order of counting") {
    struct journal journal = {0};
    journal_count(&journal, "m", 0, "on", "because", 30);
    journal_count(&journal, "m", 0, "on", "because", 10);
    journal_count(&journal, "m", 0, "on", "because", 20);
    journal_count(&journal, "m", 0, NULL, "because", 40); /* no decision */
    journal_count(&journal, "m", 1, "on", "because", 50);
    journal_count(&journal, "n", 0, "on", "because", 60);
    journal_count(&journal, "m", 0, "on", "for another reason", 70);
    REQUIRE(journal.tally_count == 5);
    CHECK_EQ(journal.tallies[0].count, 3u);
    CHECK_EQ(journal.tallies[0].first, 10u);
    CHECK_EQ(journal.tallies[0].last, 30u);
    for (unsigned i = 1; i < 5; i++) CHECK_EQ(journal.tallies[i].count, 1u);
    CHECK(journal.tallies[1].decision == NULL);
    journal_release(&journal);
}

TEST("a mechanism that announces itself for each program is listed once, and entries are kept in order") {
    enum { ENTRIES = 100 };
    struct journal journal = {0};
    for (unsigned i = 0; i < 3; i++) journal_announce(&journal, &(struct journal_mechanism){.name = i < 2 ? "m" : "n"});
    CHECK_EQ(journal.mechanism_count, 2u);
    for (unsigned i = 0; i < ENTRIES; i++) journal_add(&journal, &(struct journal_entry){.cycle = i, .mechanism = "m"});
    REQUIRE(journal.count == ENTRIES);
    for (unsigned i = 0; i < ENTRIES; i++) CHECK_EQ(journal.entries[i].cycle, i);
    journal_release(&journal);
    CHECK_EQ(journal.count, 0u);
}

TEST("without a journal nothing is recorded") {
    journal_announce(NULL, &(struct journal_mechanism){.name = "m"});
    journal_add(NULL, &(struct journal_entry){.mechanism = "m"});
    journal_count(NULL, "m", 0, "on", "because", 1);
    CHECK(true);
}
