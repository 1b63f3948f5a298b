/* Instruction lines: versions, address modes, quirks of writers, and located errors. */
#include "sass/line.h"

#include "sass/trace_text.h"

static bool read_line(const char *text, unsigned version, bool line_info, struct sass_line *line,
                      struct sass_problem *problem) {
    return sass_line_read((struct sass_text){text, text + strlen(text)}, version, line_info, line, problem);
}

static struct sass_line good_line(const char *text, unsigned version) {
    struct sass_line line = {0};
    struct sass_problem problem = {0};
    bool good = read_line(text, version, false, &line, &problem);
    CHECK_EQ(problem.text, "");
    REQUIRE(good);
    return line;
}

TEST("a line has its PC, mask, registers and opcode") {
    struct sass_line line = good_line("01a0 0000ff0f 1 R3 IMAD.WIDE 3 R4 UR5 R255 0 0", 5);
    CHECK_EQ(line.pc, 0x1a0u);
    CHECK_EQ(line.mask, 0xff0fu);
    CHECK_EQ(line.dst_count, 1);
    CHECK_EQ(line.dst[0], 3);
    CHECK_EQ(line.src_count, 3);
    CHECK_EQ(line.src[0], 4);
    CHECK_EQ(line.src[1], SASS_NO_REGISTER); /* uniform */
    CHECK_EQ(line.src[2], SASS_NO_REGISTER); /* RZ */
    CHECK_EQ(line.opcode.end - line.opcode.at, 9);
    CHECK(!line.has_addresses);
}

TEST("mode 0 lists an address for each active lane") {
    struct sass_line line = good_line("0020 0000000a 1 R4 LDG.E 1 R2 4 0 0x7f0000000000 0x7f0000000180", 3);
    CHECK(line.has_addresses);
    CHECK_EQ(line.address[1], 0x7f0000000000u);
    CHECK_EQ(line.address[3], 0x7f0000000180u);
    CHECK_EQ(line.address[0], line.address[1]); /* inactive lanes have the address of an active one, */
    CHECK_EQ(line.address[2], line.address[1]);
    CHECK_EQ(line.address[31], line.address[3]); /* above the highest one its address */
}

TEST("mode 1 strides over active lanes") {
    struct sass_line line = good_line("0010 000000f1 1 R3 LDG.E.SYS 1 R2 4 1 0x7f0000000100 -8", 4);
    CHECK_EQ(line.address[0], 0x7f0000000100u);
    CHECK_EQ(line.address[4], 0x7f00000000f8u);
    CHECK_EQ(line.address[7], 0x7f00000000e0u);
}

TEST("mode 2 has one difference fewer than active lanes, and none for a single lane") {
    struct sass_line line = good_line("0030 00000007 1 R5 LDG.E.SYS 1 R2 4 2 0x7f000000044c -584 1572 9", 5);
    CHECK_EQ(line.address[0], 0x7f000000044cu);
    CHECK_EQ(line.address[1], 0x7f000000044cu - 584);
    CHECK_EQ(line.address[2], 0x7f000000044cu - 584 + 1572);
    CHECK_EQ(line.immediate, 9u);
    line = good_line("0030 00000100 1 R5 LDG.E.SYS 1 R2 4 2 0x7f0000000440 0", 5);
    CHECK_EQ(line.address[8], 0x7f0000000440u);
    CHECK_EQ(good_line("0030 00000000 1 R5 LDG.E 1 R2 4 1 0x0 0 0", 5).mask, 0u);
}

TEST("only version 5 has an immediate, which may be missing, and line information comes first") {
    struct sass_line line = {0};
    struct sass_problem problem = {0};
    CHECK_EQ(good_line("0040 ffffffff 0 BAR.SYNC 0 0 0x3", 5).immediate, 3u);
    CHECK_EQ(good_line("0040 ffffffff 0 BAR.SYNC 0 0 -1", 5).immediate, UINT64_MAX);
    CHECK_EQ(good_line("0040 ffffffff 0 BAR.SYNC 0 0", 5).immediate, 0u);
    CHECK(!read_line("0040 ffffffff 0 BAR.SYNC 0 0 3", 4, false, &line, &problem));
    CHECK_EQ(problem.text, "`3`: expected the end of the line");
    CHECK_EQ(problem.column, 30u);
    CHECK(read_line("117 0040 ffffffff 0 EXIT 0 0", 4, true, &line, &problem));
    CHECK_EQ(line.pc, 0x40u);
}

TEST("a broken line is rejected at the field that is wrong") {
    static const struct {
        const char *text;
        unsigned column;
        const char *problem;
    } broken[] = {
        {"", 1, "the line ends here; expected the PC"},
        {"00zz ffffffff 0 EXIT 0 0", 1, "`00zz`: expected the PC"},
        {"0000 1ffffffff 0 EXIT 0 0", 6, "expected the mask"},
        {"0000 ffffffff 17 EXIT 0 0", 15, "number of destination registers"},
        {"0000 ffffffff 1 R256 MOV 0 0", 17, "`R256`: expected a register"},
        {"0000 ffffffff 1 MOV 0 0", 17, "`MOV`: expected a register"},
        {"0000 ffffffff 0 7 0 0", 17, "expected an opcode"},
        {"0000 ffffffff 0 MOV 2 R1", 25, "the line ends here; expected a register"},
        {"0000 ffffffff 0 MOV 0", 22, "the line ends here; expected the width"},
        {"0000 00000003 0 LDG 0 4 3 0x10", 25, "`3`: expected an address mode"},
        {"0000 00000003 0 LDG 0 4 0 0x10", 31, "the line ends here; expected an address"},
        {"0000 00000003 0 LDG 0 4 0 0x10 0xg", 32, "`0xg`: expected an address"},
        {"0000 00000003 0 LDG 0 4 0 0x10 0x1000000000000000", 32, "expected an address"},
        {"0000 00000003 0 LDG 0 4 1 0x10", 31, "expected the distance"},
        {"0000 00000003 0 LDG 0 4 1 0x10 -32 0", 35, "a difference leads beyond"},
        {"0000 00000003 0 LDG 0 4 2 0x10 four", 32, "`four`: expected the difference"},
        {"0000 00000003 0 LDG 0 4 2 0x10 99999999999999999999", 32, "expected the difference"},
        {"0000 00000001 0 LDG 0 4 2 0x10 0 0", 34, "`0`: expected the end of the line"},
        {"0000 0000000f 0 LDG 0 4 0 0x10 0x20 0x30 0", 43,
         "the line ends here; expected the immediate; it or an address"},
        {"0000 0000000f 0 LDG 0 4 1 0x10 0", 33, "the line ends here; expected the immediate"},
        {"0000 0000000f 0 LDG 0 4 2 0x10 4 4 0", 37, "the line ends here; expected the immediate"},
        {"0000 00000001 0 LDG 0 4 2 0x10", 31, "the line ends here; expected the immediate"},
    };
    for (unsigned i = 0; i < COUNT_OF(broken); i++) {
        struct sass_line line;
        struct sass_problem problem = {0};
        CHECK(!read_line(broken[i].text, 5, false, &line, &problem));
        CHECK_EQ(problem.column, broken[i].column);
        CHECK_TEXT(problem.text, broken[i].problem);
    }
}
