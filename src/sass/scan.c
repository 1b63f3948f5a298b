/* A pass over a kernel file before it is read. Only the beginning of each line is parsed, up to the opcode, and the rest of
 * stores and atomics, so that it takes a fraction of the time of reading. Errors in lines are left to the reader, which
 * locates them. */
#include <string.h>

#include "base/base.h"
#include "sass/file.h"
#include "sass/opcode.h"
#include "sass/record.h"

struct scan {
    struct sass_header header;
    struct sass_opcodes opcodes;
    struct sass_uses *uses;
    struct sass_pages *written;
};

/* The header ends with the first thread block. False if it is not valid. */
static bool scan_header(struct scan *scan, struct sass_input *input, const char *path, struct error *err) {
    static const char first[] = "#BEGIN_TB";
    struct sass_text line;
    struct error ignored = {0};
    bool good = true;
    while (good && sass_input_line(input, &line, err)) {
        size_t length = (size_t)(line.end - line.at);
        if (length >= sizeof first - 1 && memcmp(line.at, first, sizeof first - 1) == 0) return true;
        if (length && *line.at == '-')
            good = sass_header_line(&scan->header, line, path, sass_input_line_number(input), &ignored);
    }
    return false;
}

static void scan_write(struct scan *scan, struct sass_text text, const struct sass_opcode *opcode) {
    struct sass_line line;
    struct sass_problem problem;
    if (!sass_line_read(text, scan->header.version, scan->header.line_info, &line, &problem)) return;
    if (opcode->role == SASS_UNKNOWN && (!line.has_addresses || line.dst_count)) return;
    if (!line.has_addresses && line.mask) {
        sass_pages_add_all(scan->written); /* of a surface, or by the bulk copy unit */
        return;
    }
    uint64_t last = UINT64_MAX;
    FOR_LANES (lane, sass_global_lanes(&scan->header, &line, opcode)) {
        uint64_t page = line.address[lane] / SASS_PAGE_BYTES;
        if (page != last) sass_pages_add(scan->written, line.address[lane]);
        last = page;
    }
}

static void scan_line(struct scan *scan, struct sass_text text) {
    struct sass_text name;
    if (!sass_line_opcode(text, scan->header.line_info, &name)) return;
    const struct sass_opcode *opcode = sass_opcodes_find(&scan->opcodes, name);
    if (!opcode) return;
    bool on_chip = opcode->role == SASS_SHARED || opcode->role == SASS_MATRIX || opcode->role == SASS_LOCAL;
    scan->uses->tensor |= opcode->role == SASS_TENSOR;
    scan->uses->atomics |= opcode->op == OP_atomic && !on_chip;
    bool writes = opcode->op == OP_store || opcode->op == OP_atomic || opcode->role == SASS_BULK_WRITE;
    if ((writes && !on_chip) || opcode->role == SASS_UNKNOWN) scan_write(scan, text, opcode);
}

bool sass_scan(const char *path, struct sass_uses *uses, struct sass_pages *written, bool (*goes_on)(void *user),
               void *user, struct error *err) {
    enum { STEP_LINES = 1 << 15 };
    struct sass_input *input = sass_input_open(path, err);
    if (!input) return false;
    struct scan scan = {.uses = uses, .written = written};
    if (scan_header(&scan, input, path, err)) {
        struct sass_text line;
        sass_opcodes_start(&scan.opcodes, scan.header.binary_version);
        for (uint64_t lines = 1; sass_input_line(input, &line, err); lines++) {
            scan_line(&scan, line);
            if (lines % STEP_LINES == 0 && goes_on && !goes_on(user)) break;
        }
        sass_opcodes_release(&scan.opcodes);
    }
    sass_input_close(input);
    return !err->set;
}
