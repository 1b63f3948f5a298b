/* The conformance table of matrix instructions: registers of 32 lanes, computed from the PTX manual in exact arithmetic
 * (conformance_matrix.py), before and after each instruction. */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/run_ptx.h"

enum { PARTS = 4, REGISTERS = 8, WORDS = REGISTERS * 32, LINE_BYTES = 8192, INPUT_WORDS = 3 * WORDS };
static const char letters[] = "dabc";

struct instruction {
    char text[256];
    unsigned width, registers[PARTS];
};

/* The instruction between loads of a, b and c and stores of d; a slot has 8 bytes. */
static void kernel_write(FILE *out, const struct instruction *in) {
    fputs(PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in) {\n"
                     ".reg .b64 %from, %to; .reg .b32 %lane;\n",
          out);
    for (unsigned part = 0; part < PARTS; part++)
        if (in->registers[part]) fprintf(out, ".reg .b%u %%%c<%u>;\n", in->width, letters[part], in->registers[part]);
    fputs("ld.param.u64 %to, [out]; ld.param.u64 %from, [in]; mov.u32 %lane, %tid.x;\n"
          "mad.wide.u32 %to, %lane, 8, %to; mad.wide.u32 %from, %lane, 8, %from;\n",
          out);
    for (unsigned part = 1; part < PARTS; part++)
        for (unsigned r = 0; r < in->registers[part]; r++)
            fprintf(out, "ld.global.b%u %%%c%u, [%%from+%u];\n", in->width, letters[part], r,
                    ((part - 1) * WORDS + r * 32) * 8);
    fputs(in->text, out);
    bool one = strncmp(in->text, "movmatrix", 9) == 0;
    for (unsigned part = 0; part < PARTS; part++) {
        if (!in->registers[part]) continue;
        fputs(part ? ", " : " ", out);
        for (unsigned r = 0; r < in->registers[part]; r++)
            fprintf(out, "%s%%%c%u", r ? ", " : one ? "" : "{", letters[part], r);
        if (!one) fputs("}", out);
    }
    fputs(";\n", out);
    for (unsigned r = 0; r < in->registers[0]; r++)
        fprintf(out, "st.global.b%u [%%to+%u], %%d%u;\n", in->width, r * 32 * 8, r);
    fputs("ret;\n}\n", out);
}

static unsigned words_read(const char *line, uint64_t *words) {
    unsigned count = 0;
    for (char *at = (char *)line;; count++) {
        while (*at == ' ') at++;
        if (*at == '\n' || *at == '\0' || count == WORDS) return count;
        words[count] = strtoull(at, &at, 16);
    }
}

/* Runs one case of a loaded instruction; prints the first wrong word. */
static bool case_holds(struct ptx_run *run, const struct instruction *in, uint64_t (*parts)[WORDS]) {
    uint64_t *input = (uint64_t *)(void *)run_input(run), *output = run_u64(run);
    memset(output, 0, WORDS * 8);
    for (unsigned part = 1; part < PARTS; part++) memcpy(input + (part - 1) * WORDS, parts[part], WORDS * 8);
    bool good = run_loaded(run, 1, 32);
    if (!good) printf("    %s\n    %s\n", in->text, run->err.text);
    for (unsigned i = 0; good && i < in->registers[0] * 32; i++) {
        good = output[i] == parts[0][i];
        if (!good)
            printf("    %s: register %u of lane %u is %" PRIx64 ", not %" PRIx64 "\n", in->text, i / 32, i % 32,
                   output[i], parts[0][i]);
    }
    return good;
}

TEST("every instruction of the matrix table gives the registers of the PTX manual, in every lane") {
    FILE *table = fopen(SLUICE_SOURCE_DIR "/tests/ptx/conformance_matrix.txt", "r");
    REQUIRE(table);
    static char line[LINE_BYTES];
    static uint64_t parts[PARTS][WORDS];
    struct instruction in = {0};
    struct ptx_run run = {0};
    unsigned instructions = 0, cases = 0, failed = 0;
    while (fgets(line, sizeof line, table)) {
        if (line[0] == '#') continue;
        if (line[0] != ' ') {
            if (run.loaded) run_end(&run);
            REQUIRE(sscanf(line, "%255s | %u | %u %u %u %u", in.text, &in.width, &in.registers[0], &in.registers[1],
                           &in.registers[2], &in.registers[3]) == 6);
            char *text;
            size_t bytes;
            FILE *out = open_memstream(&text, &bytes);
            kernel_write(out, &in);
            fclose(out);
            REQUIRE(run_load(&run, text));
            free(text);
            instructions++;
            continue;
        }
        static const unsigned order[] = {1, 2, 3, 0}; /* a, b, c, d */
        for (unsigned i = 0; i < PARTS; i++) {
            REQUIRE(words_read(line, parts[order[i]]) == in.registers[order[i]] * 32);
            if (i + 1 < PARTS) REQUIRE(fgets(line, sizeof line, table));
        }
        cases++;
        failed += !case_holds(&run, &in, parts);
    }
    if (run.loaded) run_end(&run);
    fclose(table);
    CHECK_EQ(failed, 0u);
    CHECK_EQ(instructions, 61u);
    CHECK_EQ(cases, 69u);
}
