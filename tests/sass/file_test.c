/* Kernel files: headers of every version, their checks, and the structure of thread blocks. */
#include "sass/trace_text.h"

#define EXIT_LINE "0000 ffffffff 0 EXIT 0 0\n"

TEST("versions 3, 4 and 5 are read, with and without line information") {
    struct trace_read read = trace_read_text(HEADER("3") WARP("1", EXIT_LINE));
    CHECK_EQ(read.err.text, "");
    CHECK_EQ(read.count, 1u);
    read = trace_read_text(HEADER("4") "-enable lineinfo = 0\n" WARP("1", EXIT_LINE));
    CHECK_EQ(read.count, 1u);
    read = trace_read_text(HEADER("4") "-enable lineinfo = 1\n\n#traces format = x\n" WARP("1", "12 " EXIT_LINE));
    CHECK_EQ(read.err.text, "");
    CHECK_EQ(read.count, 1u);
    read = trace_read_text(HEADER("5") WARP("1", "0000 ffffffff 0 EXIT 0 0 0\n"));
    CHECK_EQ(read.err.text, "");
    CHECK_EQ(read.record[0].op, OP_exit);
    CHECK_EQ(read.kernel.name, "k");
    CHECK_EQ(read.kernel.registers, 16u);
}

static const char *failure_of(const char *text) {
    static struct error err;
    err = trace_read_text(text).err;
    return err.text;
}

TEST("garbage in a header is rejected with its line, and a remedy") {
    CHECK_TEXT(failure_of(HEADER("2") WARP("1", EXIT_LINE)),
               ".traceg:12:28: accelsim tracer version = 2: versions 3 to 5 are read");
    CHECK_TEXT(failure_of(HEADER("5") "-nregs = 21955\n" WARP("1", EXIT_LINE)),
               ".traceg:13:10: nregs = 21955: a thread has 1 to 255 registers");
    CHECK_TEXT(failure_of(HEADER("5") "-binary version = 0\n" WARP("1", EXIT_LINE)),
               "binary version = 0: expected 60 (Pascal) to 90 (Hopper)");
    CHECK_TEXT(failure_of(HEADER("5") "-grid dim = (0,1,1)\n" WARP("1", EXIT_LINE)), "expected (x,y,z)");
    CHECK_TEXT(failure_of(HEADER("5") "-grid dim = (65536,65536,1)\n" WARP("1", EXIT_LINE)), "at most 2147483647 CTAs");
    CHECK_TEXT(failure_of(HEADER("5") "-block dim = (1024,2,1)\n" WARP("1", EXIT_LINE)), "at most 1024 threads");
    CHECK_TEXT(failure_of(HEADER("5") "-block dim = 32\n" WARP("1", EXIT_LINE)), "expected (x,y,z)");
    CHECK_TEXT(failure_of(HEADER("5") "-shmem = 99999999999999999999999\n" WARP("1", EXIT_LINE)), "expected a number");
    CHECK_TEXT(failure_of(HEADER("5") "-shmem = -1\n" WARP("1", EXIT_LINE)), "expected a number");
    CHECK_TEXT(failure_of("-kernel name = k\n#BEGIN_TB\n"), ".traceg:2:1: the header ends here without `-grid dim");
    CHECK_TEXT(failure_of(HEADER("5") "nonsense\n"), ".traceg:13:1: expected a header line");
    CHECK_TEXT(failure_of(HEADER("5")), "the file has no thread block");
    CHECK_TEXT(failure_of(""), "the file has no thread block");
}

TEST("a broken structure is rejected with its line") {
    CHECK_TEXT(failure_of(HEADER("3") WARP("2", EXIT_LINE)), "warp 0 ends 1 lines before its `insts` are complete");
    CHECK_TEXT(failure_of(HEADER("3") WARP("0", EXIT_LINE)), ".traceg:19:1: expected `warp = number` or #END_TB");
    CHECK_TEXT(failure_of(HEADER("3") WARP("1", "0000 ffffffff 0 LDG 0 4 9 0x0\n")),
               ".traceg:19:25: `9`: expected an address mode");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nwarp = 0\n"), "expected `thread block = x,y,z`");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 0,0\n"), "expected `thread block = x,y,z`");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 1,0,0\n"), "lies outside the grid");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\n"), "the warp does not exist");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 0,0,0\n#END_TB\n"), "ends without warp 0");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n" EXIT_LINE), "expected `insts");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n"),
               "the file ends within a warp");
    CHECK_TEXT(failure_of(HEADER("3") "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\n"),
               "the file ends within a thread block");
    CHECK_TEXT(failure_of(HEADER("3") WARP("1", EXIT_LINE) WARP("1", EXIT_LINE)), "occurred before");
    CHECK_TEXT(failure_of(HEADER("3") "-grid dim = (2,1,1)\n" WARP("1", EXIT_LINE)), "after 1 of 2 thread blocks");
}

TEST("thread blocks may be in any order") {
    struct trace_read read = trace_read_text(
        HEADER("3") "-grid dim = (2,2,1)\n"
                    "#BEGIN_TB\nthread block = 1,1,0\nwarp = 0\ninsts = 1\n" EXIT_LINE "#END_TB\n"
                    "#BEGIN_TB\nthread block = 0,1,0\nwarp = 0\ninsts = 1\n" EXIT_LINE "#END_TB\n"
                    "#BEGIN_TB\nthread block = 1,0,0\nwarp = 0\ninsts = 1\n" EXIT_LINE "#END_TB\n"
                    "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 ffffffff 1 R1 MOV 0 0\n" EXIT_LINE
                    "#END_TB\n");
    CHECK_EQ(read.err.text, "");
    CHECK_EQ(read.count, 2u);
    CHECK_EQ(read.record[0].op, OP_other);
}
