/* Opcodes: class, access width, cache operator and tensor work follow from name and suffixes. */
#include "sass/opcode.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "config/catalogue.h"
#include "sm/sm_config.h"
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
    CHECK_EQ(decoded("IMMA.8816.S8.S8", 72).op, OP_tensor);
    CHECK_EQ(decoded("LDGMC.E.ADD", 90).op, OP_load);
    CHECK_EQ(decoded("STAS", 90).role, SASS_SHARED);
    CHECK_EQ(decoded("REDAS.ADD", 90).op, OP_atomic);
    CHECK_EQ(decoded("UBLKCP.S.G", 90).role, SASS_PLAIN);
    CHECK_EQ(decoded("UBLKCP.G.S", 90).role, SASS_BULK_WRITE);
}

TEST("an opcode has the published latency of its architecture, relative to its class, and its pipeline") {
    static const struct {
        const char *text;
        unsigned version;
        int cycles, added, timed;
    } cases[] = {
        {"FADD", 70, 4, 0, 0},
        {"IMAD.MOV.U32", 70, 5, 0, 0},
        {"HFMA2", 70, 6, 2, OP_TIMED_SP},
        {"HFMA2", 80, 3, -1, OP_TIMED_SP},
        {"HFMA2", 75, 0, 0, 0},
        {"POPC", 70, 10, 6, OP_TIMED_SFU},
        {"POPC", 80, 6, 2, OP_TIMED_SFU},
        {"BREV", 70, 14, 10, OP_TIMED_SFU},
        {"POPC", 90, 0, 0, OP_TIMED_SFU},
        {"POPC", 61, 0, 0, OP_TIMED_SFU},
        {"DSETP.GT.AND", 80, 0, 0, OP_TIMED_DP},
        {"DFMA", 80, 5, 0, 0},
        {"MUFU.RCP", 90, 23, 0, 0},
        {"F2I.TRUNC", 70, 0, 0, OP_TIMED_SFU},
        {"LDG.E", 80, 0, 0, 0},
        {"QUUX", 80, 0, 0, 0},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct sass_opcode opcode = decoded(cases[i].text, cases[i].version);
        CHECK_EQ(opcode.cycles, cases[i].cycles);
        CHECK_EQ(opcode.added_cycles, cases[i].added);
        CHECK_EQ(opcode.timed, cases[i].timed);
    }
}

enum { PIPELINE_CLASS, PIPELINE_SP, PIPELINE_SFU, PIPELINE_DP, PIPELINE_MEM, PIPELINE_CONTROL, PIPELINE_TENSOR };
enum { CLASS = 0, NO = -1, ARCHITECTURES = 5 };

static const struct {
    const char *name;
    int op, pipeline, role, cycles[ARCHITECTURES];
} rows[] = {
#define X(name, class, pipeline, role, ...) {#name, OP_##class, PIPELINE_##pipeline, SASS_##role, {__VA_ARGS__}},
#include "sass/opcodes.def"
#undef X
};
static const int class_pipelines[OP_COUNT] = {
#define X(name, unit, latency, interval, help) PIPELINE_##unit,
    OP_LIST(X)
#undef X
};
static const int class_latencies[OP_COUNT][ARCHITECTURES] = {
#define X(name, ...) [OP_##name] = {__VA_ARGS__},
#include "sass/latencies.def"
#undef X
};

TEST(
    "a latency in the table has that of its class to compare with, and only arithmetic has another pipeline than its class") {
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        bool own = rows[i].pipeline != PIPELINE_CLASS && rows[i].pipeline != class_pipelines[rows[i].op];
        CHECK(!own || (rows[i].op < OP_load && rows[i].pipeline >= PIPELINE_SP && rows[i].pipeline <= PIPELINE_DP));
        CHECK((rows[i].pipeline == PIPELINE_CLASS) == (rows[i].op == OP_int_mul || rows[i].op == OP_int_mad));
        for (unsigned a = 0; a < ARCHITECTURES; a++) {
            int cycles = rows[i].cycles[a], of_class = class_latencies[rows[i].op][a];
            CHECK(cycles <= CLASS || of_class > 0);
            /* Which pipeline multiplies integers depends on the machine, so that their opcodes have the latency of the class. */
            CHECK(cycles <= CLASS || rows[i].pipeline != PIPELINE_CLASS || cycles == of_class);
        }
    }
}

TEST("the latencies of classes are those of the GPU descriptions") {
    static const struct {
        const char *gpu;
        unsigned architecture;
    } machines[] = {{"v100", 1}, {"a100", 3}, {"h100", 4}};
    for (unsigned m = 0; m < COUNT_OF(machines); m++) {
        struct error err = {0};
        struct config *config = config_build(machines[m].gpu, NULL, NULL, 0, &err);
        REQUIRE(config);
        const struct sm_config *sm = config_get(config, &sm_section);
        for (enum op_class op = 0; op < OP_load; op++) {
            int cycles = class_latencies[op][machines[m].architecture];
            if (!cycles) continue; /* sequences of instructions in SASS */
            CHECK_EQ(sm->operand_cycles + sm_op_cycles(sm, op).latency + sm->writeback_cycles, cycles);
        }
        config_destroy(config);
    }
}

TEST("the table has the opcodes of every architecture") {
    static const char
        all[] = "FADD FMUL FFMA FMNMX FSETP FSEL MUFU HADD2 HMUL2 HFMA2 DADD DMUL DFMA DSETP IADD3 IMNMX ISETP LEA"
                " LOP3 POPC FLO BREV PRMT SEL SHF MOV F2F F2I I2F S2R CS2R SHFL VOTE P2R R2P BRA EXIT NOP BAR MEMBAR"
                " LDG LD LDL LDS LDC STG ST STL STS ATOM ATOMS RED TEX TLD TLD4 DEPBAR CCTL CALL RET KILL",
        pascal[] =
            "XMAD IADD ISCADD IMUL BFE BFI SHL SHR LOP SSY SYNC PBK BRK PCNT CONT PRET CAL JCAL RRO DMNMX ICMP IMAD32I",
        volta[] =
            "IMAD IDP BMSK SGXT FRND BMOV BSSY BSYNC BREAK WARPSYNC YIELD NANOSLEEP MATCH ATOMG HMMA IMMA PLOP3 QSPC",
        turing[] = "R2UR S2UR UIADD3 UIMAD ULEA ULOP3 UMOV USEL USHF UPRMT UISETP UFLO UPOPC VOTEU ULDC LDSM IMMA BMMA",
        ampere[] = "LDGSTS LDGDEPBAR ARRIVES DMMA REDUX HMNMX2 I2FP F2FP UF2FP GENMETADATA",
        hopper[] = "HGMMA IGMMA QGMMA BGMMA STSM UTMALDG UTMASTG UTMAPF UBLKCP SYNCS WARPGROUP ELECT VIADD VIMNMX REDG"
                   " FENCE UCGABAR_ARV UCGABAR_WAIT USETMAXREG LDGMC STAS REDAS CS2UR";
    static const struct {
        unsigned version;
        const char *lists[6];
    } architectures[] = {
        {61, {all, pascal}},
        {70, {all, volta}},
        {75, {all, volta, turing}},
        {86, {all, volta, turing, ampere}},
        {90, {all, volta, turing, ampere, hopper}},
    };
    for (unsigned a = 0; a < COUNT_OF(architectures); a++)
        for (const char *const *list = architectures[a].lists; *list; list++)
            for (const char *at = *list; *at;) {
                char name[32];
                int length = (int)strcspn(at, " ");
                snprintf(name, sizeof name, "%.*s", length, at);
                bool known = decoded(name, architectures[a].version).role != SASS_UNKNOWN;
                if (!CHECK(known)) fprintf(stderr, "%s of sm_%u\n", name, architectures[a].version);
                at += length + (at[length] == ' ');
            }
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
