#!/usr/bin/env bash
# The energy of runs, recomputed from their counters by tests/energy/recompute.py.
. "$(dirname "$0")/../testlib.sh"

recompute() { python3 tests/energy/recompute.py "$@"; }

# agrees NAME ARGUMENTS...: the energy of a run is what its counters and the tables give.
agrees() {
    local name=$1 text
    shift
    sluice run "$@" --json "$work/$name.json"
    status_is 0
    text=$(recompute "$work/$name.json" 2>&1)
    check $? "$*: $text"
}
# counts NAME PATTERN: a counter of this run that matches is not 0.
counts() { holds "$1 has no $2" grep -qE "\"$2\": [1-9]" "$work/$1.json"; }

# Bundled tables have no energy of refreshes and no power of channels.
sed 's/^refresh_pj:.*/refresh_pj: 5000/; s/^channel_milliwatts:.*/channel_milliwatts: 75/' energy/dram-hbm.yaml >"$work/dram.yaml"

testcase "an adaptive LLC: routers that are powered off for a part of the run"
agrees adaptive synth:uniform --set workload.iterations=8 --design adaptive --set llc.adaptive.profile_cycles=500 --set llc.adaptive.epoch_cycles=5000
counts adaptive noc.request.mc_router.gated_cycles
counts adaptive adaptive.shared_cycles
agrees atomics sssp:tiny --design adaptive --set llc.adaptive.atomics=true --set energy.measured_caches=false

testcase "a private LLC with bypassed routers: by measured caches and by geometry, with an LLC for atomics"
agrees bypassed mm:tiny --design private-bypass
counts bypassed noc.reply.mc_router.gated_cycles
agrees geometry sssp:tiny --design private-bypass --set energy.measured_caches=false --set energy.gated_leak=0.3
counts geometry llc.atomics_forwarded
counts geometry atomics.atomic_hits

testcase "sectored caches cost by the sectors that they move"
sectors=(--set l1.sector_bytes=32 --set llc.sector_bytes=32 --set l1.write_allocate=validate --set llc.write_allocate=validate)
agrees sectored needle:tiny --gpu selrep-64sm "${sectors[@]}" --set energy.measured_caches=false
counts sectored llc.sectors.merged
counts sectored l1.sectors.validated
agrees sectored_atomics sssp:tiny --design private-bypass "${sectors[@]}" --set energy.measured_caches=false
counts sectored_atomics atomics.sectors.written

testcase "selective replication, two programs, HBM with refreshes"
agrees selrep hg:tiny + va:tiny --gpu selrep-64sm --design selrep
agrees refreshes sssp:tiny --gpu selrep-64sm --set energy.dram="$work/dram.yaml" --set dram.hbm.refresh=true --set dram.hbm.tREFI=500
counts refreshes dram.refreshes
agrees private sssp:tiny --gpu selrep-64sm --design private --set energy.measured_caches=false --set energy.array=array-32nm

testcase "groups of L1s: crossbars, both kinds of cooperation, directories"
agrees mgc synth:spread --gpu icc-32sm --design icc-mgc --set workload.ctas=16 --set workload.iterations=8 --set workload.footprint_kb=64
counts mgc l1.mulnet.data_answers
counts mgc l1.mulnet.miss_answers
agrees agc synth:spread --gpu icc-32sm --design icc-agc --set workload.ctas=16 --set workload.iterations=8 --set workload.footprint_kb=64 \
    --set energy.measured_caches=false
counts agc l1.adjnet.probes
agrees clustered mm:tiny --gpu icc-32sm --design clustered --set group.nodes=2 --set group.channel_bytes=16

testcase "L1s that are bypassed; other topologies, clocks and tables"
agrees bypass mm:tiny --gpu fermi-15sm --design bypass-all
counts bypass l1.read_bypasses
agrees pdp sssp:tiny --gpu fermi-15sm --design pdp --set energy.measured_caches=false --set energy.array=array-45nm
agrees concentrated mm:tiny --gpu adaptive-80sm --set noc.topology=concentrated --set noc.vcs=2 --set noc.clock_mhz=700 \
    --set energy.link=link-45nm-intermediate --set energy.long_link_mm=8 --set energy.gpu=gpu-turing
counts concentrated noc.request.router.vc_allocations
agrees ideal mm:tiny --gpu fermi-15sm --set noc.topology=ideal --set energy.gpu=gpu-pascal

testcase "a counter that is off by one changes the recomputed energy"
changed() { # NAME COUNTER: adds one to a counter
    python3 - "$work/$1.json" "$2" >"$work/changed.json" <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
result["stats"][sys.argv[2]] += 1
json.dump(result, sys.stdout)
PYTHON
}
for counter in sm.op.int_add l1.read_hits noc.request.sm_router.buffer_writes noc.reply.mc_router.gated_cycles dram.activates; do
    changed bypassed $counter
    ! recompute "$work/changed.json" >"$work/out" 2>&1
    check $? "$counter has no effect"
done

tests_end
