/* The conformance table of textures and surfaces: instructions as text, through parser, lowering and emulator, compared
 * with results computed from the manuals in exact arithmetic (texture_conformance.py). The cases of an instruction are
 * the threads of one kernel. Every object is tested as a pitch-linear and as a tiled image, which must not differ. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"
#include "test.h"

enum {
    OPERANDS = 5,
    RESULTS = 4,
    CASES = 64,
    LINE_BYTES = 2048,
    SLOT_WORDS = OPERANDS + RESULTS,
    IMAGE_BYTES = 1 << 14
};

struct object {
    char name[16];
    struct image image;
    struct sampler sampler;
    bool surface;
    uint8_t bytes[LINE_BYTES / 2];
    size_t size_bytes;
};
struct instruction {
    char text[LINE_BYTES], names[OPERANDS], types[OPERANDS][8];
    unsigned operand_count, case_count;
    uint32_t given[CASES][OPERANDS], wanted[CASES][RESULTS];
};

static int choice(const char *word, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0) return i;
    printf("    unknown word %s\n", word);
    return 0;
}

/* "= t1 texture 2 5 4 1 0 u8 1 nearest c b c 0 0 1 2 3 4 00ff..." */
static bool object_read(const char *line, struct object *object) {
    static const char *const types[] = {
#define X(name, bytes, kind, cl, cl_normalised) #name,
        TEXEL_LIST(X)
#undef X
    };
    static const char *const modes[] = {"w", "m", "c", "b"};
    char use[16], type[8], filter[16], mode[3][2], hex[LINE_BYTES];
    unsigned dimensions, channels, normalized, values;
    struct image *image = &object->image;
    struct sampler *sampler = &object->sampler;
    memset(object, 0, sizeof *object);
    if (sscanf(line, "= %15s %15s %u %u %u %u %u %7s %u %15s %1s %1s %1s %u %u %x %x %x %x %2047s", object->name, use,
               &dimensions, &image->width, &image->height, &image->depth, &image->layers, type, &channels, filter,
               mode[0], mode[1], mode[2], &normalized, &values, &sampler->border[0], &sampler->border[1],
               &sampler->border[2], &sampler->border[3], hex) != 20)
        return false;
    object->surface = strcmp(use, "surface") == 0;
    image->dimensions = (uint8_t)dimensions;
    image->type = (uint8_t)choice(type, types, TEXEL_COUNT);
    image->channels = (uint8_t)channels;
    sampler->filter = strcmp(filter, "linear") == 0 ? TEXTURE_LINEAR : TEXTURE_NEAREST;
    for (unsigned i = 0; i < 3; i++) sampler->address[i] = (uint8_t)choice(mode[i], modes, 4);
    sampler->normalized_coordinates = normalized;
    sampler->normalized_values = values;
    object->size_bytes = strlen(hex) / 2;
    for (size_t i = 0; i < object->size_bytes; i++) {
        unsigned byte;
        sscanf(hex + 2 * i, "%2x", &byte);
        object->bytes[i] = (uint8_t)byte;
    }
    return true;
}

/* "tex... | x:f32 y:f32", then lines of cases; `line` is then the line after them. */
static bool instruction_read(FILE *table, char *line, struct instruction *in) {
    memset(in, 0, sizeof *in);
    char *operands = strstr(line, " | ");
    if (!operands) return false;
    *operands = '\0';
    snprintf(in->text, sizeof in->text, "%s", line);
    for (char *at = operands + 3; in->operand_count < OPERANDS; in->operand_count++) {
        unsigned i = in->operand_count;
        int used;
        if (sscanf(at, " %c:%7s%n", &in->names[i], in->types[i], &used) != 2) break;
        at += used;
    }
    line[0] = '\0';
    while (fgets(line, LINE_BYTES, table) && line[0] == ' ') {
        unsigned n = in->case_count++;
        if (n >= CASES) return false;
        char *at = line;
        for (unsigned i = 0; i < in->operand_count; i++) in->given[n][i] = (uint32_t)strtoul(at, &at, 16);
        at = strchr(at, '=');
        if (!at) return false;
        at++;
        for (unsigned i = 0; i < RESULTS; i++) in->wanted[n][i] = (uint32_t)strtoul(at, &at, 16);
        line[0] = '\0';
    }
    return in->case_count > 0;
}

static char *kernel_write(const struct object *object, const struct instruction *in) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out,
            ".version 9.0\n.target sm_90\n.address_size 64\n.global .%s %s;\n"
            ".visible .entry row(.param .u64 data)\n{\n.reg .b64 %%at; .reg .b32 %%slot; .reg .b16 %%h<4>;\n"
            ".reg .b32 %%r, %%g, %%b, %%a;\nld.param.u64 %%at, [data]; mov.u32 %%slot, %%tid.x;\n"
            "mad.wide.u32 %%at, %%slot, %u, %%at;\n",
            object->surface ? "surfref" : "texref", object->name, SLOT_WORDS * 4);
    for (unsigned i = 0; i < in->operand_count; i++)
        fprintf(out, ".reg .%s %%%c; ld.global.%s %%%c, [%%at+%u];\n", in->types[i], in->names[i], in->types[i],
                in->names[i], 4 * i);
    fprintf(out, "%s;\n", in->text);
    for (unsigned i = 0; i < RESULTS; i++)
        fprintf(out, "st.global.b32 [%%at+%u], %%%c;\n", 4 * (OPERANDS + i), "rgba"[i]);
    fputs("ret;\n}\n", out);
    fclose(out);
    return text;
}

static uint64_t object_create(struct device *device, struct object object, bool tiled, struct error *err) {
    object.image.address = memory_allocate(&device->memory, IMAGE_BYTES);
    object.image.tiled = tiled;
    memcpy(memory_at(&device->memory, object.image.address, IMAGE_BYTES), object.bytes, object.size_bytes);
    return object.surface ? surface_create(device, &object.image, err)
                          : texture_create(device, &object.image, &object.sampler, err);
}

static bool instruction_run(const char *text, const struct object *object, bool tiled, uint32_t slots[][SLOT_WORDS],
                            unsigned cases, struct error *err) {
    struct device device;
    device_init(&device);
    struct ptx_module *module = ptx_parse("row.ptx", text, strlen(text), err);
    struct loaded_module *loaded = module ? device_load(&device, module, err) : NULL;
    uint64_t handle = loaded ? object_create(&device, *object, tiled, err) : 0;
    bool ran = false;
    if (handle) {
        const struct program *program = loaded_program(loaded);
        memcpy(memory_at(&device.memory, program->variables[0].address, sizeof handle), &handle, sizeof handle);
        const uint64_t size = (uint64_t)cases * SLOT_WORDS * 4, address = memory_allocate(&device.memory, size);
        memcpy(memory_at(&device.memory, address, size), slots, size);
        const struct launch launch = {.module = loaded,
                                      .kernel = program_kernel(program, "row"),
                                      .grid = {1, 1, 1},
                                      .block = {cases, 1, 1},
                                      .parameters = (const uint8_t *)&address};
        struct emu_counts counts;
        ran = emu_run(&device, &launch, NULL, &counts, err);
        memcpy(slots, memory_at(&device.memory, address, size), size);
    }
    if (loaded) device_unload(&device, loaded);
    device_release(&device);
    return ran;
}

/* Checks one instruction; prints each failing case. */
static bool instruction_holds(const struct object *object, const struct instruction *in, bool tiled) {
    static uint32_t slots[CASES][SLOT_WORDS];
    memset(slots, 0, sizeof slots);
    for (unsigned n = 0; n < in->case_count; n++) memcpy(slots[n], in->given[n], sizeof in->given[n]);
    char *text = kernel_write(object, in);
    struct error err = {0};
    bool holds = instruction_run(text, object, tiled, slots, in->case_count, &err);
    if (!holds) printf("    %s\n    %s\n", in->text, err.text);
    free(text);
    for (unsigned n = 0; holds && n < in->case_count; n++) {
        const uint32_t *got = slots[n] + OPERANDS, *wanted = in->wanted[n];
        if (memcmp(got, wanted, RESULTS * sizeof *got) == 0) continue;
        printf("    %s:", in->text);
        for (unsigned k = 0; k < in->operand_count; k++) printf(" %x", in->given[n][k]);
        printf(" gives %x %x %x %x, not %x %x %x %x\n", got[0], got[1], got[2], got[3], wanted[0], wanted[1], wanted[2],
               wanted[3]);
        holds = false;
    }
    return holds;
}

TEST("every texture and surface instruction of the conformance table gives the result of the manuals, in every case") {
    FILE *table = fopen(SLUICE_SOURCE_DIR "/tests/ptx/texture_conformance.txt", "r");
    REQUIRE(table);
    static char line[LINE_BYTES];
    static struct instruction in;
    static struct object object;
    unsigned cases = 0, failed = 0, read = 0;
    while (line[0] || fgets(line, LINE_BYTES, table)) {
        if (line[0] == '#') {
            line[0] = '\0';
        } else if (line[0] == '=') {
            read += !object_read(line, &object);
            line[0] = '\0';
        } else if (instruction_read(table, line, &in)) {
            cases += in.case_count;
            failed += !instruction_holds(&object, &in, false);
            failed += !instruction_holds(&object, &in, true);
        } else {
            read++;
            break;
        }
    }
    CHECK(feof(table));
    fclose(table);
    CHECK_EQ(read, 0u);
    CHECK_EQ(failed, 0u);
    CHECK(cases > 1500);
}
