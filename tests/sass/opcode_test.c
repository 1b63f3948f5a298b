/* Opcodes: class, access width, cache operator and tensor work follow from name and suffixes. */
#include "sass/opcode.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "test.h"

static struct sass_opcode decoded(const char *text, unsigned binary_version) {
    struct sass_opcodes opcodes;
    sass_opcodes_start(&opcodes, binary_version);
    struct sass_opcode opcode = *sass_opcodes_find(&opcodes, (struct sass_text){text, text + strlen(text)});
    sass_opcodes_release(&opcodes);
    return opcode;
}

TEST("the width of an access is that of the suffix") {
    static const struct {
        const char *text;
        unsigned bytes, results;
    } widths[] = {{"LDG.E.U8.SYS", 1, 1},      {"LDG.E.S16", 2, 1},        {"LDG.E", 4, 1},
                  {"LDG.E.64.CONSTANT", 8, 2}, {"LDS.U.128", 16, 4},       {"STG.E.128.SYS", 16, 1},
                  {"LDG.E.LTC128B.64", 8, 2},  {"RED.E.ADD.F64.RN", 8, 1}, {"ATOMG.E.ADD.STRONG.GPU", 4, 1}};
    for (unsigned i = 0; i < COUNT_OF(widths); i++) {
        CHECK_EQ(decoded(widths[i].text, 80).bytes, widths[i].bytes);
        CHECK_EQ(decoded(widths[i].text, 80).results, widths[i].results);
    }
}

TEST("strong, evict-first and constant accesses have cache operators and flags") {
    CHECK_EQ(decoded("LDG.E.SYS", 70).cache, CACHE_DEFAULT); /* the plain load of Volta */
    CHECK_EQ(decoded("LDG.E.STRONG.GPU", 80).cache, CACHE_GLOBAL);
    CHECK_EQ(decoded("LDG.E.STRONG.SYS", 80).cache, CACHE_VOLATILE);
    CHECK_EQ(decoded("LDG.E.EF", 80).cache, CACHE_STREAM);
    CHECK_EQ(decoded("LDG.E.CG", 60).cache, CACHE_GLOBAL);
    CHECK_EQ(decoded("ATOMG.E.ADD.STRONG.GPU", 80).cache, CACHE_DEFAULT);
    CHECK_EQ(decoded("LDG.E.CONSTANT", 80).flags, INSTR_NONCOHERENT | INSTR_READ_ONLY);
    CHECK_EQ(decoded("LDG.E.CI", 61).flags, INSTR_NONCOHERENT | INSTR_READ_ONLY);
    CHECK_EQ(decoded("LDG.E", 80).flags, 0);
}

TEST("classes differ by architecture, and an opcode of another one is unknown") {
    CHECK_EQ(decoded("XMAD.MRG", 61).op, OP_int_mad);
    CHECK_EQ(decoded("XMAD.MRG", 70).role, SASS_UNKNOWN);
    CHECK_EQ(decoded("ATOMG.ADD", 70).op, OP_atomic);
    CHECK_EQ(decoded("LDGSTS.E.128", 80).role, SASS_COPY);
    CHECK_EQ(decoded("LDGSTS.E.128", 75).role, SASS_UNKNOWN);
    CHECK_EQ(decoded("DFMA", 60).op, OP_f64_fma);
    CHECK_EQ(decoded("MUFU.RCP", 90).op, OP_special);
    CHECK_EQ(decoded("QUUX.E", 90).op, OP_other);
}

TEST("shape and types of a tensor instruction determine its format and work") {
    static const struct {
        const char *text;
        unsigned version, format, work;
    } shapes[] = {
        {"HMMA.884.F32.F32.STEP0", 70, TENSOR_f16_f32, 256},
        {"HMMA.16816.F16", 80, TENSOR_f16, 2048},
        {"HMMA.16816.F32.BF16", 80, TENSOR_f16_f32, 2048},
        {"HMMA.1688.F32.TF32", 80, TENSOR_tf32, 1024},
        {"IMMA.16832.S8.S8", 80, TENSOR_s8, 4096},
        {"IMMA.16864.U4.U4", 80, TENSOR_s4, 8192},
        {"BMMA.168256.XOR.POPC", 80, TENSOR_b1, 32768},
        {"DMMA.8x8x4", 90, TENSOR_f64, 256},
        {"HGMMA.64x256x16.F32.BF16", 90, TENSOR_f16_f32, 65536},
    };
    for (unsigned i = 0; i < COUNT_OF(shapes); i++) {
        struct sass_opcode opcode = decoded(shapes[i].text, shapes[i].version);
        CHECK_EQ(opcode.op, OP_tensor);
        CHECK_EQ(opcode.format, shapes[i].format);
        CHECK_EQ(opcode.multiply_adds, shapes[i].work);
    }
}

TEST("the table of opcodes grows to its limit") {
    struct sass_opcodes opcodes;
    sass_opcodes_start(&opcodes, 70);
    for (unsigned i = 0; i < SASS_OPCODES; i++) {
        char text[32];
        snprintf(text, sizeof text, "FADD.X%u", i);
        struct sass_opcode *opcode = sass_opcodes_find(&opcodes, (struct sass_text){text, text + strlen(text)});
        REQUIRE(opcode);
        CHECK_EQ(opcode->op, OP_f32_add);
    }
    static const char more[] = "FADD.MORE", known[] = "FADD.X77";
    CHECK(!sass_opcodes_find(&opcodes, (struct sass_text){more, more + strlen(more)}));
    CHECK(sass_opcodes_find(&opcodes, (struct sass_text){known, known + strlen(known)}) == &opcodes.row[77]);
    sass_opcodes_release(&opcodes);
}
