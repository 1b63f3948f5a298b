/* The conformance table: PTX instructions as text, through parser, lowering and emulator, compared with results
 * computed from the PTX manual in exact arithmetic (conformance.py). The cases of an instruction are the threads of one
 * kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"
#include "test.h"

enum { OPERANDS = 4, RESULTS = 2, CASES = 64, SLOT_BYTES = 128, RESULT_OFFSET = 64, LINE_BYTES = 512 };

struct value {
    char name, type[8];
};
struct instruction {
    char text[LINE_BYTES];
    struct value operands[OPERANDS], results[RESULTS];
    unsigned operand_count, result_count, case_count;
    uint64_t given[CASES][OPERANDS], wanted[CASES][RESULTS], tolerance[CASES][RESULTS];
};

static unsigned type_bytes(const char *type) { return strcmp(type, "pred") == 0 ? 4 : (unsigned)atoi(type + 1) / 8; }

/* " a:b32 b:pred" */
static unsigned values_read(const char *text, struct value *values, unsigned room) {
    unsigned count = 0, used;
    for (int at = 0;
         count < room && sscanf(text + at, " %c:%7s%n", &values[count].name, values[count].type, &used) == 2; count++)
        at += (int)used;
    return count;
}
/* " 7f 1 = 80~2": numbers up to `end`, each with an optional tolerance. */
static unsigned numbers_read(const char *text, char end, uint64_t *numbers, uint64_t *tolerance, unsigned room) {
    unsigned count = 0;
    for (char *at = (char *)text; count < room; count++) {
        while (*at == ' ') at++;
        if (*at == end || *at == '\n' || *at == '\0') break;
        numbers[count] = strtoull(at, &at, 16);
        const uint64_t allowed = *at == '~' ? strtoull(at + 1, &at, 10) : 0;
        if (tolerance) tolerance[count] = allowed;
    }
    return count;
}

static void kernel_write(FILE *out, const struct instruction *in) {
    fputs(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry row(.param .u64 data)\n{\n"
          "    .reg .b64 %at;\n    .reg .b32 %slot, %word;\n",
          out);
    for (unsigned i = 0; i < in->operand_count; i++)
        fprintf(out, "    .reg .%s %%%c;\n", in->operands[i].type, in->operands[i].name);
    for (unsigned i = 0; i < in->result_count; i++)
        fprintf(out, "    .reg .%s %%%c;\n", in->results[i].type, in->results[i].name);
    fprintf(out,
            "    ld.param.u64 %%at, [data];\n    mov.u32 %%slot, %%tid.x;\n    mad.wide.u32 %%at, %%slot, %d, %%at;\n",
            SLOT_BYTES);
    for (unsigned i = 0; i < in->operand_count; i++) {
        const struct value *v = &in->operands[i];
        if (strcmp(v->type, "pred") == 0)
            fprintf(out, "    ld.global.u32 %%word, [%%at+%u];\n    setp.ne.u32 %%%c, %%word, 0;\n", 8 * i, v->name);
        else
            fprintf(out, "    ld.global.%s %%%c, [%%at+%u];\n", v->type, v->name, 8 * i);
    }
    fprintf(out, "    %s;\n", in->text);
    for (unsigned i = 0; i < in->result_count; i++) {
        const struct value *v = &in->results[i];
        if (strcmp(v->type, "pred") == 0)
            fprintf(out, "    selp.u32 %%word, 1, 0, %%%c;\n    st.global.u32 [%%at+%u], %%word;\n", v->name,
                    RESULT_OFFSET + 8 * i);
        else
            fprintf(out, "    st.global.%s [%%at+%u], %%%c;\n", v->type, RESULT_OFFSET + 8 * i, v->name);
    }
    fputs("    ret;\n}\n", out);
}

/* Runs the kernel on the memory slots of the cases. */
static bool kernel_run(const char *text, size_t bytes, uint8_t *slots, unsigned cases, struct error *err) {
    struct device device;
    device_init(&device);
    struct ptx_module *module = ptx_parse("row.ptx", text, bytes, err);
    struct loaded_module *loaded = module ? device_load(&device, module, err) : NULL;
    bool ran = false;
    if (loaded) {
        const uint64_t size = (uint64_t)cases * SLOT_BYTES, address = memory_allocate(&device.memory, size);
        memcpy(memory_at(&device.memory, address, size), slots, size);
        const struct launch launch = {.module = loaded,
                                      .kernel = program_kernel(loaded_program(loaded), "row"),
                                      .grid = {1, 1, 1},
                                      .block = {cases, 1, 1},
                                      .parameters = (const uint8_t *)&address};
        struct emu_counts counts;
        ran = emu_run(&device, &launch, NULL, &counts, err);
        memcpy(slots, memory_at(&device.memory, address, size), size);
        device_unload(&device, loaded);
    }
    device_release(&device);
    return ran;
}

/* Checks one instruction; prints each failing case. */
static bool instruction_holds(const struct instruction *in) {
    static uint8_t slots[CASES * SLOT_BYTES];
    memset(slots, 0, sizeof slots);
    for (unsigned n = 0; n < in->case_count; n++) memcpy(slots + n * SLOT_BYTES, in->given[n], sizeof in->given[n]);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    kernel_write(out, in);
    fclose(out);
    struct error err = {0};
    bool holds = kernel_run(text, bytes, slots, in->case_count, &err);
    if (!holds) printf("    %s\n    %s\n", in->text, err.text);
    for (unsigned n = 0; holds && n < in->case_count; n++)
        for (unsigned r = 0; r < in->result_count; r++) {
            uint64_t got = 0;
            memcpy(&got, slots + n * SLOT_BYTES + RESULT_OFFSET + 8 * r, type_bytes(in->results[r].type));
            const uint64_t wanted = in->wanted[n][r], apart = got > wanted ? got - wanted : wanted - got;
            if (apart <= in->tolerance[n][r]) continue;
            holds = false;
            printf("    %s:", in->text);
            for (unsigned k = 0; k < in->operand_count; k++) printf(" %" PRIx64, in->given[n][k]);
            printf(" gives %%%c = %" PRIx64 ", not %" PRIx64 "\n", in->results[r].name, got, wanted);
        }
    free(text);
    return holds;
}

/* Reads the next instruction with its cases; `line` is then the line after them. */
static bool instruction_read(FILE *table, char *line, struct instruction *in) {
    while (line[0] == '#' || line[0] == '\n')
        if (!fgets(line, LINE_BYTES, table)) return false;
    if (line[0] == '\0') return false;
    memset(in, 0, sizeof *in);
    char *results = strstr(line, " | "), *operands = results ? strstr(results + 3, " | ") : NULL;
    if (!operands) return false;
    *results = *operands = '\0';
    snprintf(in->text, sizeof in->text, "%s", line);
    in->result_count = values_read(results + 3, in->results, RESULTS);
    in->operand_count = values_read(operands + 3, in->operands, OPERANDS);
    line[0] = '\0';
    while (fgets(line, LINE_BYTES, table) && line[0] == ' ') {
        const unsigned n = in->case_count++;
        const char *equals = strchr(line, '=');
        if (n >= CASES || !equals) return false;
        if (numbers_read(line, '=', in->given[n], NULL, OPERANDS) != in->operand_count) return false;
        if (numbers_read(equals + 1, '\n', in->wanted[n], in->tolerance[n], RESULTS) != in->result_count) return false;
        line[0] = '\0';
    }
    return in->case_count > 0;
}

TEST("every instruction of the conformance table gives the result of the PTX manual, in every case") {
    FILE *table = fopen(SLUICE_SOURCE_DIR "/tests/ptx/conformance.txt", "r");
    REQUIRE(table);
    char line[LINE_BYTES] = "#";
    static struct instruction in;
    unsigned cases = 0, failed = 0;
    while (instruction_read(table, line, &in)) {
        cases += in.case_count;
        failed += !instruction_holds(&in);
    }
    CHECK(feof(table));
    fclose(table);
    CHECK_EQ(failed, 0u);
    CHECK(cases > 8000);
}
