/* Records: what the stream has for each kind of instruction. */
#include "sass/trace_text.h"

#define EXIT_LINE "0100 ffffffff 0 EXIT 0 0 0\n"

static struct trace_read warp_of(const char *lines, unsigned count) {
    char *text = text_format(HEADER("5") "-binary version = 90\n"
                                         "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %u\n%s#END_TB\n",
                             count, lines);
    struct trace_read read = trace_read_text(text);
    CHECK_EQ(read.err.text, "");
    free(text);
    return read;
}

TEST("registers are numbered from 1, and wide results name several") {
    struct trace_read read = warp_of("0000 ffffffff 1 R4 LDG.E.128 1 R2 16 1 0x7f0000000000 16 0\n"
                                     "0010 ffffffff 0 STG.E.64 2 R2 R10 8 1 0x7f0000000000 8 0\n"
                                     "0020 ffffffff 1 R255 FADD 2 R255 R7 0 0\n" EXIT_LINE,
                                     4);
    REQUIRE(read.count == 4);
    const uint8_t quad[INSTR_DSTS] = {5, 6, 7, 8}, pair[INSTR_SRCS] = {3, 4, 11, 12}, one[INSTR_SRCS] = {8};
    CHECK(memcmp(read.record[0].dst, quad, sizeof quad) == 0);
    CHECK(memcmp(read.record[1].src, pair, sizeof pair) == 0);
    CHECK_EQ(read.record[2].dst[0], 0);
    CHECK(memcmp(read.record[2].src, one, sizeof one) == 0);
    CHECK_EQ(read.record[0].count, 2u); /* 512 bytes */
    CHECK_EQ(touch_sectors(read.touch[0][1]), 0xFFu);
    CHECK_EQ(read.record[0].bytes_log2, 4);
}

TEST("shared and local addresses lie in their windows, also those of generic accesses") {
    struct trace_read read = warp_of("0000 ffffffff 1 R4 LDS 1 R2 4 1 0x7f2c00000000 128 0\n"
                                     "0010 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f2c00000100 4 0\n"
                                     "0020 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f2a00000010 0 0\n"
                                     "0030 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0000000000 4 0\n"
                                     "0040 ffffffff 0 STL 2 R2 R3 4 1 0x7f2a00000010 0 0\n"
                                     "0050 ffffffff 1 R4 ATOMS.ADD 2 R2 R3 4 1 0x7f2c00000000 0 0\n" EXIT_LINE,
                                     7);
    REQUIRE(read.count == 7);
    CHECK_EQ(read.record[0].space, SPACE_SHARED);
    CHECK_EQ(read.record[0].conflicts, 32); /* one bank */
    CHECK_EQ(read.record[1].space, SPACE_SHARED);
    CHECK_EQ(read.record[1].conflicts, 1);
    CHECK_EQ(read.record[2].space, SPACE_LOCAL);
    CHECK_EQ(read.record[2].count, 1u); /* word 4 of all lanes: 128 contiguous bytes */
    CHECK_EQ(touch_sectors(read.touch[2][0]), 0x0Fu);
    CHECK_EQ(read.record[3].space, SPACE_GLOBAL);
    CHECK_EQ(read.record[4].space, SPACE_LOCAL);
    CHECK_EQ(read.touch[4][0], read.touch[2][0]);
    CHECK_EQ(read.record[5].op, OP_atomic);
    CHECK_EQ(read.record[5].conflicts, 32);
    CHECK(!read.kernel.atomics); /* of shared memory only */
}

TEST("an atomic or tensor instruction anywhere is known before the kernel") {
    struct trace_read read =
        warp_of("0000 ffffffff 0 HFMA2.MMA 0 0 0\n"
                "0010 ffffffff 1 R4 ATOMG.E.ADD.STRONG.GPU 2 R2 R3 4 1 0x7f0000000000 0 0\n" EXIT_LINE,
                3);
    CHECK(read.kernel.atomics);
    CHECK(!read.kernel.tensor);
    CHECK_EQ(read.record[1].op, OP_atomic);
    CHECK_EQ(read.record[1].conflicts, 32);
    read = warp_of("0000 ffffffff 1 R4 HGMMA.64x256x16.F32 2 R8 R12 0 0\n" EXIT_LINE, 2);
    CHECK(read.kernel.tensor);
    CHECK(!read.kernel.atomics);
    REQUIRE(read.count == 17); /* 65536 multiply-adds, 4096 a record */
    CHECK_EQ(read.record[0].count, 4096u);
    CHECK_EQ(read.record[0].dst[0], 0);
    CHECK_EQ(read.record[15].count, 4096u);
    CHECK_EQ(read.record[15].dst[3], 8);
}

TEST("a warp arrives at barrier 0 with its last live lane, and does not wait at others") {
    struct trace_read read = warp_of("0000 0000000f 0 EXIT 0 0 0\n"
                                     "0010 0000fff0 0 BAR.SYNC 0 0 0\n"
                                     "0010 ffff0000 0 BAR.SYNC 0 0 0\n"
                                     "0020 fffffff0 0 BAR.SYNC 0 0 1\n"
                                     "0030 fffffff0 0 BAR.ARV 0 0 0\n"
                                     "0040 fffffff0 0 MEMBAR.SC.GPU 0 0 0\n" EXIT_LINE,
                                     7);
    REQUIRE(read.count == 7);
    static const uint8_t ops[] = {OP_other, OP_other, OP_barrier, OP_other, OP_barrier, OP_fence, OP_exit};
    for (unsigned i = 0; i < COUNT_OF(ops); i++) CHECK_EQ(read.record[i].op, ops[i]);
    CHECK_EQ(read.record[2].flags, 0);
    CHECK_EQ(read.record[4].flags, INSTR_ARRIVE);
}

TEST("a wait for groups of copies names the copies that may be pending") {
    struct trace_read read = warp_of("0000 ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 0x7f0000000000 16 0\n"
                                     "0010 ffffffff 0 LDGDEPBAR 0 0 0\n"
                                     "0020 ffffffff 0 LDGSTS.E 2 R2 R4 4 1 0x7f0000001000 4 0\n"
                                     "0030 ffffffff 0 LDGSTS.E 2 R2 R4 4 1 0x7f0000002000 4 0\n"
                                     "0040 ffffffff 0 LDGDEPBAR 0 0 0\n"
                                     "0050 ffffffff 0 DEPBAR.LE 0 0 1\n"
                                     "0060 ffffffff 0 DEPBAR.LE 0 0 0\n"
                                     "0070 ffffffff 0 DEPBAR.LE 0 0 2\n" EXIT_LINE,
                                     9);
    REQUIRE(read.count == 9);
    CHECK_EQ(read.record[0].op, OP_load);
    CHECK_EQ(read.record[0].flags, INSTR_ASYNC | INSTR_READ_ONLY);
    CHECK_EQ(read.record[0].cache, CACHE_GLOBAL);
    CHECK_EQ(read.record[0].conflicts, 4); /* 512 bytes over 32 banks */
    CHECK_EQ(read.record[5].op, OP_fence);
    CHECK_EQ(read.record[5].flags, INSTR_ASYNC);
    CHECK_EQ(read.record[5].count, 2u);
    CHECK_EQ(read.record[6].count, 0u);
    CHECK_EQ(read.record[6].op, OP_fence);
    CHECK_EQ(read.record[7].op, OP_other); /* no more than two groups exist */
}

TEST("instructions without lanes or addresses access nothing, and a warp without EXIT ends") {
    struct trace_read read = warp_of("0000 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 0\n"
                                     "0010 ffffffff 1 R4 TEX 2 R2 R3 0 0\n",
                                     2);
    REQUIRE(read.count == 3);
    CHECK_EQ(read.record[0].op, OP_other);
    CHECK_EQ(read.record[0].dst[0], 5);
    CHECK_EQ(read.record[1].op, OP_other);
    CHECK_EQ(read.record[2].op, OP_exit);
    CHECK_EQ(warp_of("", 0).count, 1u);
}

TEST("unknown opcodes have a default class and one warning") {
    struct trace_read read = warp_of("0000 ffffffff 1 R4 QUUX.64 1 R2 8 1 0x7f0000000000 8 0\n"
                                     "0010 ffffffff 0 FROB 1 R2 8 1 0x7f0000000000 8 0\n"
                                     "0020 ffffffff 1 R4 FROB 1 R2 0 0\n" EXIT_LINE,
                                     4);
    CHECK_EQ(read.record[0].op, OP_load);
    CHECK_EQ(read.record[0].bytes_log2, 3);
    CHECK_EQ(read.record[1].op, OP_store);
    CHECK_EQ(read.record[2].op, OP_other);
    CHECK_TEXT(read.warning.text, "QUUX.64 (1), FROB (2)");
    CHECK(!warp_of(EXIT_LINE, 1).warning.set);
}

TEST("static records of one PC may differ, as those of several functions") {
    struct trace_read read = warp_of("0000 ffffffff 1 R4 FADD 1 R2 0 0\n"
                                     "0000 ffffffff 1 R5 DFMA 1 R3 0 0\n"
                                     "7f0000010000 ffffffff 1 R6 MUFU 1 R3 0 0\n"
                                     "0000 ffffffff 1 R4 FADD 1 R2 0 0\n" EXIT_LINE,
                                     5);
    REQUIRE(read.count == 5);
    CHECK_EQ(read.record[0].op, OP_f32_add);
    CHECK_EQ(read.record[1].op, OP_f64_fma);
    CHECK_EQ(read.record[1].id, read.record[0].id);
    CHECK_EQ(read.record[2].op, OP_special);
    CHECK(read.record[2].id != read.record[0].id);
    CHECK_EQ(read.record[3].op, OP_f32_add);
}
