/* synth:alu: arithmetic in enough independent chains to keep the schedulers issuing; measures the issue width. Three of
 * four instructions are multiply-adds, the fourth is an integer addition, all on the SP pipeline. */
#include "stream/synth.h"

static bool build(struct synth *synth, struct error *err) {
    if (synth->params.compute == 0)
        return config_error(synth->config, "workload.compute", err,
                            "synth:alu consists of arithmetic only: give at least 1 instruction");
    uint8_t chains = (uint8_t)synth->params.chains, constant = (uint8_t)(chains + 1);
    for (int64_t i = 0; i < synth->params.compute; i++) {
        struct instr *instr = synth_add(synth, i % 4 == 3 ? OP_int_add : OP_f32_fma);
        instr->dst[0] = instr->src[0] = (uint8_t)(1 + i % chains);
        instr->src[1] = constant;
        if (instr->op == OP_f32_fma) instr->src[2] = (uint8_t)(constant + 1);
    }
    return true;
}

const struct synth_ops synth_alu = {
    .name = "alu",
    .help = "arithmetic in independent chains; measures issue width",
    .own = {.ctas = 640, .warps = 8, .kernels = 1, .iterations = 20, .compute = 32, .chains = 8},
    .build = build,
};
