# bench/noc measures the network that a reference names, or rejects the reference.
. "$(dirname "$0")/../testlib.sh"

head="config,injection_rate_flits_per_node_cycle,stable,avg_packet_latency,avg_network_latency,avg_flit_latency,hops,injected_flit_rate,accepted_flit_rate"

# noc ARGS...: as `sluice ARGS`, of bench/noc.
noc() {
    last_command="bench/noc $*"
    timeout 100 "$(dirname "$SLUICE")/bench/noc" "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}

# rejected WORDS NAME: a reference of that name is rejected with its location.
rejected() {
    printf '%s\n%s,0.05,1,12,12,12,2,0.05,0.05\n' "$head" "$2" >"$work/reference.csv"
    noc --reference "$work/reference.csv"
    status_is 2
    err_has "$work/reference.csv:2:1: $1"
}

testcase "rejects a reference that it cannot measure, with name, file and line"
rejected "unknown topology 'mesh8x8'; known are fly64x1" X:mesh8x8:vc1x8:pkt1:req:uniform:base4
rejected "unknown topology 'hxbar_lat'" X:hxbar_lat:vc1x8:pkt1:req:uniform:base4
rejected "unknown topology 'cxbar_c3_w32B'" X:cxbar_c3_w32B:vc1x8:pkt1:req:uniform:base4
rejected "unknown traffic 'tornado'; known are uniform" X:full80x64:vc1x8:pkt1:req:tornado:base4
rejected "unknown traffic 'hotspot0%'" X:full80x64:vc1x8:pkt1:req:hotspot0%:base4
rejected "unknown router 'base5'" X:full80x64:vc1x8:pkt1:req:uniform:base5
rejected "unknown direction 'up'" X:full80x64:vc1x8:pkt1:up:uniform:base4
rejected "invalid VCs 'vc1'" X:full80x64:vc1:pkt1:req:uniform:base4
rejected "no message has the length of packet 'pkt0'" X:full80x64:vc1x8:pkt0:req:uniform:base4
rejected "'X:full80x64' is not a configuration" X:full80x64
rejected "X:full80x64:vc1x8:pkt1:req:transpose:base4: transpose needs n x n sources" X:full80x64:vc1x8:pkt1:req:transpose:base4
printf '%s\nA:fly64x1:vc1x8:pkt1:uniform:base4,0.05,yes\n' "$head" >"$work/reference.csv"
noc --reference "$work/reference.csv"
status_is 2
err_has "reference.csv:2:1: expected a configuration and eight numbers"

testcase "rejects traffic that does not fit the network"
noc --curve --traffic transpose
status_is 2
err_has "transpose needs n x n sources"
noc --curve --traffic hotspot101%
status_is 2
err_has "hotspotN%"

# curve LATENCY ARGS...: mean latency at low load, in cycles.
curve() {
    local latency=$1
    shift
    noc --curve --loads 0.01 --cycles 4000 "$@"
    status_is 0
    holds "the latency is near $latency, not $(tail -n 1 "$work/out")" \
        awk -F, -v near="$latency" 'END { exit !($2 >= near && $2 < near * 1.1) }' "$work/out"
}

testcase "measures an H-Xbar with long links of any latency"
curve 12 --topology hierarchical --long-link 1
curve 16 --topology hierarchical --long-link 5
printf '%s\nX:hxbar_lat5:vc1x8:pkt1:req:uniform:base4,0.01,1,16.1,16,16,2,0.01,0.01\n' "$head" >"$work/reference.csv"
noc --quick --reference "$work/reference.csv"
holds "zero-load latency and pipeline sum are 16 cycles: $(sed -n 3p "$work/out")" \
    awk 'NR == 3 { good = $2 == 16 && $3 == 16 } END { exit !good }' "$work/out"

tests_end
