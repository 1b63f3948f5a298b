# `sluice ptx`: contents of a module, unsupported instructions, locations of errors.
. "$(dirname "$0")/../testlib.sh"

cat >"$work/good.ptx" <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[40];
.visible .entry fill(.param .u64 buffer, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %d1, [buffer];
    ld.param.u32 %r1, [n];
    st.global.u32 [%d1], %r1;
    st.shared.u32 [tile], %r1;
    ret;
}
PTX
sed 's/st.shared.u32 .*/wgmma.fence;\n    tcgen05.wait;/' "$work/good.ptx" >"$work/unsupported.ptx"
sed 's/st.shared.u32 .*/st.shared.u64 [tile], %r1;/' "$work/good.ptx" >"$work/wrong.ptx"

testcase "lists the kernels, parameters and variables of a module"
sluice ptx "$work/good.ptx"
status_is 0
err_empty
out_has "PTX 8.0 for sm_80"
out_has "kernel fill: 5 registers, 256 bytes of shared memory, 0 local, 5 instructions, 0 branches"
out_has "offset    8, 4 bytes"
out_has "variable table: global, 40 bytes"

testcase "writes the description as JSON"
sluice ptx "$work/good.ptx" --json -
status_is 0
out_has '"shared_bytes": 256'
out_has '{"name": "n", "offset": 8, "bytes": 4}'

testcase "lists all unsupported instructions"
sluice ptx "$work/unsupported.ptx"
status_is 2
out_has "unsupported: line 13: wgmma.fence in fill"
out_has "unsupported: line 14: tcgen05.wait in fill"
out_has "kernel fill: cannot be executed: $work/unsupported.ptx:13:5: unsupported instruction"
err_has "unsupported.ptx:13:5: unsupported instruction \`wgmma.fence\` in \`fill\`; 1 more on line 14"

testcase "a kernel without unsupported instructions can be executed, whatever the module holds"
sed '1,3d; s/ fill(/ other(/; s/ table\[/ more[/' "$work/unsupported.ptx" | cat "$work/good.ptx" - >"$work/both.ptx"
sluice ptx "$work/both.ptx"
status_is 2
out_has "kernel fill: 5 registers"
out_has "kernel other: cannot be executed"
err_has "both.ptx:25:5"
sluice ptx "$work/both.ptx" --json -
out_has '"executable": true'
out_has '"executable": false'
out_has '"problem": "'
sed 's/.visible .entry other(.*/.func other(.param .u64 buffer, .param .u32 n)/' "$work/both.ptx" >"$work/unused.ptx"
sluice ptx "$work/unused.ptx"
status_is 0
err_empty
out_has "function other: cannot be executed"

testcase "reports an error with its location"
sluice ptx "$work/wrong.ptx"
status_is 2
err_has "wrong.ptx:13:27: \`%r1\` is a .b32 register"
sluice ptx
status_is 2
err_has "sluice ptx FILE"

testcase "--read-only lists read-only data, and the stores to other data"
cat >"$work/copy.ptx" <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    ld.global.u32 %r1, [%d1];
    st.global.u32 [%d2], %r1;
    ret;
}
PTX
sluice ptx --read-only "$work/copy.ptx"
status_is 0
err_empty
out_has "kernel copy: 2 data structures"
out_has "read-only   1 instruction reads it, none writes it"
out_has "read-write  st.global.u32 at line 11 writes it"
sluice ptx "$work/copy.ptx" --json -
out_has '{"name": "to", "read_only": false, "why": "st.global.u32 at line 11 writes it"}'

testcase "--rewrite writes ld.global.ro, and the result can be parsed"
sluice ptx "$work/copy.ptx" --rewrite -
status_is 0
out_has "ld.global.ro.u32 %r1, [%d1];"
sluice ptx "$work/copy.ptx" --rewrite "$work/marked.ptx"
status_is 0
sluice ptx --read-only "$work/marked.ptx"
status_is 0
sluice ptx "$work/unsupported.ptx" --read-only --rewrite "$work/never.ptx"
status_is 2
err_has "unsupported.ptx:13:5"
no_file "$work/never.ptx"
sluice ptx "$work/copy.ptx" --rewrite - --json -
status_is 2
err_has "cannot both"

testcase "a newer version or target is a warning"
sed 's/.version 8.0/.version 9.9/; s/sm_80/sm_200/' "$work/copy.ptx" >"$work/newer.ptx"
sluice ptx "$work/newer.ptx"
status_is 0
err_has "warning: $work/newer.ptx:1:10: PTX 9.9 is newer than 9.0"
holds "one warning" test "$(grep -c warning "$work/err")" -eq 1
cat >"$work/newer.yaml" <<'YAML'
ptx: newer.ptx
buffers: [{name: a, bytes: 13}, {name: b, bytes: 4}]
launches: [{kernel: copy, grid: [1], block: [1], args: [{buffer: a}, {buffer: b}]}]
YAML
sluice run --launch "$work/newer.yaml"
status_is 0
holds "one warning" test "$(grep -c 'warning: .*newer than 9.0' "$work/err")" -eq 1

tests_end
