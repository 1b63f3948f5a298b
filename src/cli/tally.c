#include "cli/tally.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "sass/source.h"
#include "stream/reader.h"

static const char *const class_names[OP_COUNT] = {
#define X(name, unit, latency, interval, help) #name,
    OP_LIST(X)
#undef X
};
static const char *const space_names[TALLY_SPACES] = {
    [SPACE_GLOBAL] = "global", [SPACE_LOCAL] = "local", [SPACE_SHARED] = "shared", [SPACE_CONST] = "constant"};

/* --- counting --- */

static void begin_kernel(void *user, const struct kernel *kernel) {
    struct tally *tally = user;
    if (tally->kernel_count == tally->room) {
        tally->room = tally->room ? 2 * tally->room : 64;
        tally->kernels = mem_grow(tally->kernels, tally->room, sizeof *tally->kernels);
    }
    tally->kernels[tally->kernel_count++] =
        (struct tally_kernel){.kernel = *kernel, .stream = tally->trace ? sass_source_header(tally->trace)->stream : 0};
}

static void take_records(void *user, const struct warp_stream *warp) {
    struct tally *tally = user;
    struct tally_kernel *kernel = &tally->kernels[tally->kernel_count - 1];
    for (unsigned i = 0; i < warp->count; i++) {
        const struct instr *record = &warp->instr[i];
        kernel->warp_instructions++;
        kernel->thread_instructions += (unsigned)__builtin_popcount(record->active);
        tally->classes[instr_class(record)]++;
        if (!instr_is_memory(record)) continue;
        kernel->accesses[record->space]++;
        for (unsigned t = 0; t < record->count; t++)
            kernel->sectors[record->space] +=
                (unsigned)__builtin_popcount(touch_sectors(warp->touch[record->touches + t]));
    }
}

bool tally_take(struct tally *tally, struct stream_source *source, struct error *err) {
    struct reader reader = {begin_kernel, take_records, tally};
    return reader_run(&reader, source, err);
}

void tally_release(struct tally *tally) { free(tally->kernels); }

static struct tally_kernel totals_of(const struct tally *tally) {
    struct tally_kernel total = {0};
    for (uint32_t k = 0; k < tally->kernel_count; k++) {
        const struct tally_kernel *kernel = &tally->kernels[k];
        total.warp_instructions += kernel->warp_instructions;
        total.thread_instructions += kernel->thread_instructions;
        for (unsigned s = 0; s < TALLY_SPACES; s++) {
            total.accesses[s] += kernel->accesses[s];
            total.sectors[s] += kernel->sectors[s];
        }
    }
    return total;
}

static uint64_t copied_bytes(const struct sass_list *list) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < list->copy_count; i++) bytes += list->copies[i].bytes;
    return bytes;
}

/* --- as text --- */

static void print_trace(FILE *out, const struct tally *tally) {
    const struct sass_list *list = sass_source_list(tally->trace);
    const char *opcode;
    uint64_t count;
    fprintf(out, "  %" PRIu64 " bytes of text; %" PRIu64 " bytes copied to the device by %u command%s\n",
            sass_source_bytes(tally->trace), copied_bytes(list), list->copy_count, list->copy_count == 1 ? "" : "s");
    for (unsigned i = 0; sass_source_unknown(tally->trace, i, &opcode, &count); i++)
        fprintf(out, "%s%s (%" PRIu64 ")", i ? ", " : "  unknown opcodes: ", opcode, count);
    if (sass_source_unknown(tally->trace, 0, &opcode, &count)) fputc('\n', out);
}

void tally_write_text(FILE *out, const struct tally *tally) {
    struct tally_kernel total = totals_of(tally);
    fprintf(out, "%s: %u kernel%s, %" PRIu64 " warp instructions (%" PRIu64 " thread instructions)\n", tally->name,
            tally->kernel_count, tally->kernel_count == 1 ? "" : "s", total.warp_instructions,
            total.thread_instructions);
    if (tally->trace) print_trace(out, tally);
    fprintf(out, "\n  %-24s %18s %14s %9s %9s %6s %14s %12s\n", "kernel", "grid", "block", "registers", "shared",
            "stream", "warp instr.", "sectors");
    for (uint32_t k = 0; k < tally->kernel_count; k++) {
        const struct tally_kernel *kernel = &tally->kernels[k];
        const uint32_t *g = kernel->kernel.grid, *b = kernel->kernel.block;
        char grid[40], block[40];
        snprintf(grid, sizeof grid, "%u x %u x %u", g[0], g[1], g[2]);
        snprintf(block, sizeof block, "%u x %u x %u", b[0], b[1], b[2]);
        fprintf(out, "  %-24s %18s %14s %9u %9u %6" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n", kernel->kernel.name, grid,
                block, kernel->kernel.registers, kernel->kernel.shared_bytes, kernel->stream, kernel->warp_instructions,
                kernel->sectors[SPACE_GLOBAL]);
    }
    fprintf(out, "\n  %-12s %14s %14s\n", "accesses", "instructions", "sectors");
    for (unsigned s = 0; s < TALLY_SPACES; s++)
        if (total.accesses[s])
            fprintf(out, "  %-12s %14" PRIu64 " %14" PRIu64 "\n", space_names[s], total.accesses[s], total.sectors[s]);
    fprintf(out, "\n  %-12s %14s\n", "class", "instructions");
    for (unsigned c = 0; c < OP_COUNT; c++)
        if (tally->classes[c]) fprintf(out, "  %-12s %14" PRIu64 "\n", class_names[c], tally->classes[c]);
}

/* --- as JSON --- */

static void put_size(struct json *json, const char *key, const uint32_t size[3]) {
    json_key(json, key);
    json_array_compact(json);
    for (int d = 0; d < 3; d++) json_unsigned(json, size[d]);
    json_end(json);
}

static void put_counts(struct json *json, const char *key, const uint64_t *counts) {
    json_key(json, key);
    json_object_compact(json);
    for (unsigned s = 0; s < TALLY_SPACES; s++) json_put_unsigned(json, space_names[s], counts[s]);
    json_end(json);
}

static void put_trace(struct json *json, const struct tally *tally) {
    const struct sass_list *list = sass_source_list(tally->trace);
    const char *opcode;
    uint64_t count;
    json_put_unsigned(json, "text_bytes", sass_source_bytes(tally->trace));
    json_put_unsigned(json, "copies", list->copy_count);
    json_put_unsigned(json, "copied_bytes", copied_bytes(list));
    json_key(json, "unknown_opcodes");
    json_object(json);
    for (unsigned i = 0; sass_source_unknown(tally->trace, i, &opcode, &count); i++)
        json_put_unsigned(json, opcode, count);
    json_end(json);
}

void tally_write_json(FILE *out, const void *what) {
    const struct tally *tally = what;
    struct tally_kernel total = totals_of(tally);
    struct json json;
    json_start(&json, out);
    json_object(&json);
    json_put_text(&json, "name", tally->name);
    json_put_text(&json, "form", tally->trace ? "sass" : "recording");
    json_put_unsigned(&json, "warp_instructions", total.warp_instructions);
    json_put_unsigned(&json, "thread_instructions", total.thread_instructions);
    if (tally->trace) put_trace(&json, tally);
    put_counts(&json, "accesses", total.accesses);
    put_counts(&json, "sectors", total.sectors);
    json_key(&json, "classes");
    json_object(&json);
    for (unsigned c = 0; c < OP_COUNT; c++) json_put_unsigned(&json, class_names[c], tally->classes[c]);
    json_end(&json);
    json_key(&json, "kernels");
    json_array(&json);
    for (uint32_t k = 0; k < tally->kernel_count; k++) {
        const struct tally_kernel *kernel = &tally->kernels[k];
        json_object_compact(&json);
        json_put_text(&json, "name", kernel->kernel.name);
        put_size(&json, "grid", kernel->kernel.grid);
        put_size(&json, "block", kernel->kernel.block);
        json_put_unsigned(&json, "registers", kernel->kernel.registers);
        json_put_unsigned(&json, "shared_bytes", kernel->kernel.shared_bytes);
        if (tally->trace) json_put_unsigned(&json, "stream", kernel->stream);
        json_put_unsigned(&json, "warp_instructions", kernel->warp_instructions);
        json_put_unsigned(&json, "thread_instructions", kernel->thread_instructions);
        put_counts(&json, "accesses", kernel->accesses);
        put_counts(&json, "sectors", kernel->sectors);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}
