#include "test.h"

#include "l1/acd.h"

/* Two sets of two ways. Lines of a node are 4 apart, sets alternate. */
static struct acd small_table(unsigned hash_bits) {
    struct acd acd;
    acd_init(&acd, 2, 2, hash_bits);
    return acd;
}

TEST("a lookup returns left, right or both, as the neighbours have reported") {
    struct acd acd = small_table(20);
    CHECK_EQ(acd_look(&acd, 0, 0x100), 0u);
    acd_set(&acd, 0, 0x100, ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 1, 0x100), 0u); /* another set */
    CHECK_EQ(acd_look(&acd, 0, 0x110), 0u); /* another line */
    acd_set(&acd, 0, 0x100, ACD_RIGHT);
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)(ACD_LEFT | ACD_RIGHT));
    acd_release(&acd);
}

TEST("a neighbour that evicts a line clears its own bit, and the last cleared bit frees the entry") {
    struct acd acd = small_table(20);
    acd_set(&acd, 0, 0x100, ACD_LEFT);
    acd_set(&acd, 0, 0x100, ACD_RIGHT);
    acd_set(&acd, 0, 0x200, ACD_LEFT);
    acd_clear(&acd, 0, 0x100, ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)ACD_RIGHT);
    acd_clear(&acd, 0, 0x100, ACD_RIGHT);
    CHECK_EQ(acd_look(&acd, 0, 0x100), 0u);
    acd_set(&acd, 0, 0x300, ACD_LEFT); /* takes the free entry, not that of 0x200 */
    CHECK_EQ(acd_look(&acd, 0, 0x200), (unsigned)ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x300), (unsigned)ACD_LEFT);
    acd_clear(&acd, 0, 0x900, ACD_LEFT); /* a line without an entry */
    CHECK_EQ(acd_look(&acd, 0, 0x900), 0u);
    acd_release(&acd);
}

TEST("lines of the own group mark existing entries and allocate none") {
    struct acd acd = small_table(20);
    acd_set(&acd, 0, 0x100, ACD_LOCAL);
    CHECK_EQ(acd_look(&acd, 0, 0x100), 0u);
    acd_set(&acd, 0, 0x100, ACD_RIGHT);
    acd_set(&acd, 0, 0x100, ACD_LOCAL);
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)(ACD_LOCAL | ACD_RIGHT));
    acd_clear(&acd, 0, 0x100, ACD_LOCAL);
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)ACD_RIGHT);
    acd_release(&acd);
}

TEST("a full set evicts the entry that was updated or found longest ago, although its line is still held") {
    struct acd acd = small_table(20);
    acd_set(&acd, 0, 0x100, ACD_LEFT);
    acd_set(&acd, 0, 0x200, ACD_LEFT);
    acd_look(&acd, 0, 0x100);
    acd_set(&acd, 0, 0x300, ACD_RIGHT);
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x200), 0u);
    CHECK_EQ(acd_look(&acd, 0, 0x300), (unsigned)ACD_RIGHT);
    acd_clear(&acd, 0, 0x200, ACD_LEFT); /* a late eviction message has no effect */
    CHECK_EQ(acd_look(&acd, 0, 0x100), (unsigned)ACD_LEFT);
    acd_release(&acd);
}

TEST("two lines with the same hash share an entry: both are found, and the eviction of one hides the other") {
    struct acd acd = small_table(4); /* 0x12 and 0x21 fold to 3 */
    acd_set(&acd, 0, 0x12, ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x21), (unsigned)ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x22), 0u);
    acd_set(&acd, 0, 0x21, ACD_LEFT);
    acd_clear(&acd, 0, 0x21, ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, 0x12), 0u); /* still held, but no longer found */
    acd_release(&acd);
    acd = small_table(20); /* 20 bits distinguish the first 2^20 lines; higher bits are folded */
    acd_set(&acd, 0, UINT64_C(0x0000300005), ACD_LEFT);
    CHECK_EQ(acd_look(&acd, 0, UINT64_C(0x0000200006)), 0u);
    CHECK_EQ(acd_look(&acd, 0, UINT64_C(0x0000200004)), (unsigned)ACD_LEFT);
    acd_release(&acd);
}

TEST("entries of one line, or of all lines, can be invalidated at once") {
    struct acd acd = small_table(20);
    acd_set(&acd, 0, 0x100, ACD_LEFT);
    acd_set(&acd, 0, 0x100, ACD_RIGHT);
    acd_set(&acd, 0, 0x200, ACD_LEFT);
    acd_set(&acd, 1, 0x210, ACD_LEFT);
    acd_clear(&acd, 0, 0x100, ACD_LEFT | ACD_RIGHT);
    acd_clear(&acd, 0, 0x300, ACD_LEFT | ACD_RIGHT);
    CHECK_EQ(acd_look(&acd, 0, 0x100), 0u);
    CHECK_EQ(acd_look(&acd, 0, 0x200), (unsigned)ACD_LEFT);
    acd_empty(&acd);
    CHECK_EQ(acd_look(&acd, 0, 0x200), 0u);
    CHECK_EQ(acd_look(&acd, 1, 0x210), 0u);
    acd_release(&acd);
}

TEST("the paper's directory of 32 sets, 4 ways and 20-bit tags takes 368 bytes") {
    CHECK_EQ(32 * 4 * acd_entry_bits(20), 368u * 8);
}
