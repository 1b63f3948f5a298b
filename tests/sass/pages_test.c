/* Written pages: exact up to a limit, and everything beyond it. */
#include "sass/pages.h"

#include "sass/trace_text.h"

TEST("a page is written as a whole, and its neighbours are not") {
    struct sass_pages pages = {0};
    CHECK(!sass_pages_has(&pages, 0));
    for (uint64_t i = 0; i < 1000; i++) sass_pages_add(&pages, i * 7 * SASS_PAGE_BYTES + i);
    for (uint64_t i = 0; i < 7000; i++) {
        CHECK_EQ(sass_pages_has(&pages, i * SASS_PAGE_BYTES), i % 7 == 0);
        CHECK_EQ(sass_pages_has(&pages, (i + 1) * SASS_PAGE_BYTES - 1), i % 7 == 0);
    }
    sass_pages_release(&pages);
}

TEST("a kernel with more written pages than fit into memory writes everything") {
    enum { ENTRY_BYTES = 64 * SASS_PAGE_BYTES };
    struct sass_pages pages = {0};
    for (uint64_t i = 0; i < SASS_PAGE_ENTRIES; i++) sass_pages_add(&pages, i * ENTRY_BYTES);
    CHECK(!pages.all);
    CHECK(!sass_pages_has(&pages, SASS_PAGE_BYTES));
    CHECK(sass_pages_bytes(&pages) <= UINT64_C(16) << 20);
    sass_pages_add(&pages, SASS_PAGE_ENTRIES * (uint64_t)ENTRY_BYTES);
    CHECK(sass_pages_has(&pages, SASS_PAGE_BYTES));
    CHECK_EQ(sass_pages_bytes(&pages), 0u);
    sass_pages_add(&pages, 0);
    CHECK(sass_pages_has(&pages, 0));
    sass_pages_release(&pages);
}

/* Flags of the first record of a warp with the lines. */
static unsigned flags_of(const char *count, const char *lines) {
    char *text =
        text_format(HEADER("4") "-binary version = 90\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %s\n%s"
                                "0100 ffffffff 0 EXIT 0 0\n#END_TB\n",
                    count, lines);
    struct trace_read read = trace_read_text(text);
    CHECK_EQ(read.err.text, "");
    free(text);
    return read.record[0].flags;
}

TEST("a load is read-only if the kernel writes none of its pages, before or after it") {
#define LOAD(opcode) "0000 ffffffff 1 R1 " opcode " 1 R2 4 1 0x7f0000000ff0 4\n"
    CHECK_EQ(flags_of("2", LOAD("LDG.E")), INSTR_READ_ONLY);
    CHECK_EQ(flags_of("2", LOAD("LDG.E.STRONG.GPU")), INSTR_READ_ONLY);
    CHECK_EQ(flags_of("2", LOAD("LD.E")), INSTR_READ_ONLY);
    CHECK_EQ(flags_of("2", LOAD("LDG.E.STRONG.SYS")), 0);
    CHECK_EQ(flags_of("2", LOAD("ATOMG.E.ADD")), 0);
    CHECK_EQ(flags_of("2", LOAD("LDG.E.CONSTANT")), INSTR_READ_ONLY | INSTR_NONCOHERENT);
    static const struct {
        const char *line;
        bool writes;
    } cases[] = {
        {"0010 00000001 0 STG.E 2 R2 R1 4 1 0x7f0000000000 4\n", true}, /* the first page of the load */
        {"0010 00000001 0 STG.E 2 R2 R1 4 1 0x7f0000001ffc 4\n", true}, /* the second */
        {"0010 00000001 0 STG.E 2 R2 R1 4 1 0x7f0000002000 4\n", false},
        {"0010 00000000 0 STG.E 2 R2 R1 4 1 0x7f0000000000 4\n", false}, /* no lane */
        {"0010 00000001 0 ST.E 2 R2 R1 4 1 0x7f0000000000 4\n", true},
        {"0010 00000001 0 RED.E.ADD 2 R2 R1 4 1 0x7f0000000000 4\n", true},
        {"0010 00000001 1 R3 ATOMG.E.ADD 2 R2 R1 4 1 0x7f0000000000 4\n", true},
        {"0010 00000001 0 STS 2 R2 R1 4 1 0x7f0000000000 4\n", false},
        {"0010 00000001 0 STL 2 R2 R1 4 1 0x7f0000000000 4\n", false},
        {"0010 00000001 0 QUUX.E 2 R2 R1 4 1 0x7f0000000000 4\n", true}, /* unknown, as a store */
        {"0010 00000001 1 R3 QUUX.E 1 R2 4 1 0x7f0000000000 4\n", false},
        {"0010 00000001 0 QUUX 1 R2 0\n", false},
        {"0010 00000001 0 UTMASTG.2D 1 R2 0\n", true}, /* somewhere */
        {"0010 00000001 0 UBLKCP.S.G 1 R2 0\n", false},
        {"0010 00000001 0 SUST.P.2D 1 R2 0\n", true},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char *lines = text_format(LOAD("LDG.E") "%s", cases[i].line);
        unsigned flags = flags_of("3", lines);
        if (!CHECK_EQ(flags, cases[i].writes ? 0u : INSTR_READ_ONLY)) fprintf(stderr, "%s", cases[i].line);
        free(lines);
    }
}
