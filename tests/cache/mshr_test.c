#include "test.h"

#include "base/random.h"
#include "cache/mshr.h"

static void add(struct mshr_table *table, unsigned index, uint32_t waiter) {
    mshr_add(table, index, &waiter, sizeof waiter);
}

static uint32_t next_waiter(const struct mshr_table *table, unsigned index) {
    uint32_t waiter;
    memcpy(&waiter, mshr_next_waiter(table, index), sizeof waiter);
    return waiter;
}

TEST("every entry of the table can be allocated once, and then the table is full") {
    struct mshr_table table;
    mshr_init(&table, 5, 2, sizeof(uint32_t));
    unsigned seen = 0;
    for (unsigned i = 0; i < 5; i++) {
        CHECK(!mshr_full(&table));
        seen |= 1u << mshr_take(&table);
        CHECK_EQ(table.in_use, i + 1);
    }
    CHECK_EQ(seen, 0x1Fu);
    CHECK(mshr_full(&table));
    mshr_release(&table);
}

TEST("an entry merges as many accesses as the limit, the first included, and no more") {
    for (unsigned merges = 1; merges <= 9; merges++) {
        struct mshr_table table;
        mshr_init(&table, 2, merges, sizeof(uint32_t));
        unsigned index = mshr_take(&table);
        for (unsigned i = 0; i < merges; i++) {
            CHECK(mshr_can_merge(&table, index));
            add(&table, index, i);
        }
        CHECK(!mshr_can_merge(&table, index));
        CHECK(mshr_can_merge(&table, mshr_take(&table))); /* another entry has its own limit */
        mshr_release(&table);
    }
}

TEST("merged accesses are answered in order of arrival, and the entry is free after the last") {
    struct mshr_table table;
    mshr_init(&table, 1, 8, sizeof(uint32_t));
    unsigned index = mshr_take(&table);
    for (uint32_t i = 0; i < 5; i++) add(&table, index, 100 + i);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(mshr_full(&table));
        CHECK_EQ(next_waiter(&table, index), 100 + i);
        CHECK_EQ(mshr_answer(&table, index), i == 4);
    }
    CHECK(!mshr_full(&table));
    CHECK_EQ(table.in_use, 0u);
    CHECK_EQ(mshr_take(&table), index);
    CHECK_EQ(table.mshr[index].waiters, 0);
    CHECK_EQ(table.mshr[index].drained, 0);
    mshr_release(&table);
}

TEST("entries released in any order are allocated again, none lost or allocated twice") {
    enum { ENTRIES = 7 };
    struct mshr_table table;
    mshr_init(&table, ENTRIES, 3, sizeof(uint32_t));
    bool taken[ENTRIES] = {false};
    unsigned count = 0;
    uint64_t random = 3;
    for (unsigned step = 0; step < 5000; step++) {
        unsigned i = (unsigned)random_below(&random, ENTRIES);
        if (taken[i] && random_below(&random, 2)) {
            CHECK_EQ(next_waiter(&table, i), i);
            CHECK(mshr_answer(&table, i));
            taken[i] = false;
            count--;
        } else if (count < ENTRIES) {
            unsigned index = mshr_take(&table);
            REQUIRE(index < ENTRIES && !taken[index]);
            add(&table, index, index);
            taken[index] = true;
            count++;
        }
        CHECK_EQ(table.in_use, count);
        CHECK_EQ(mshr_full(&table), count == ENTRIES);
    }
    mshr_release(&table);
}
