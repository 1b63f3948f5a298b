/* Slices with and without llc.input_gate. */
#include "machine/runs.h"

static uint64_t request_cycles(const char *gate) {
    struct run *run = run_make("fermi-15sm", "synth:stream", SETTINGS("workload.iterations=2", gate));
    run_go(run, (struct run_options){0});
    uint64_t cycles = run_count(run, "noc.request.packet_cycles");
    run_destroy(run);
    return cycles;
}

TEST("requests to a busy slice wait in the network if llc.input_gate keeps them out of the access pipeline") {
    uint64_t open = request_cycles("llc.input_gate=false"), gated = request_cycles("llc.input_gate=true");
    CHECK(gated > 4 * open);
}
