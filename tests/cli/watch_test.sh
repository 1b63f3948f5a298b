#!/usr/bin/env bash
# `sluice run --watch`: a page on a terminal that is gone at the end, and no other result. No times are compared.
. "$(dirname "$0")/../testlib.sh"

testcase "watching changes no result, and draws nothing where there is no terminal"
sluice run mm:tiny --watch --json "$work/watched.json"
status_is 0
err_empty
sluice run mm:tiny --json "$work/plain.json"
holds "the results differ" python3 -c 'import json, sys
a, b = (json.load(open(path)) for path in sys.argv[1:])
sys.exit(a["stats"] != b["stats"] or a["cycles"] != b["cycles"])' "$work/watched.json" "$work/plain.json"

# A chroot without /dev/pts has no terminals.
if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    echo "skipped: no terminal can be opened"
    tests_end
fi

testcase "the page shows the progress and values over time, and is removed"
LC_ALL=C.UTF-8 script -qefc "$SLUICE run synth:stream --set workload.iterations=400 --watch" "$work/terminal" >/dev/null 2>&1 </dev/null
holds "the title and the progress" grep -qE 'M cycles .*M warp instructions' "$work/terminal"
for track in IPC issuing 'L1 read hits' 'LLC read hits' memory DRAM; do
    holds "no track '$track'" grep -qE "^  $track +[0-9.]+ .*(\xe2\x96|[▁▂▃▄▅▆▇█])" "$work/terminal"
done
holds "DRAM is idle" grep -qE '^  DRAM +[1-9][0-9.]+ GB/s' "$work/terminal"
python3 - "$work/terminal" >"$work/screen" <<'END'
import re, sys
# What is on the screen at the end: lines, moved up and cleared by escape sequences.
screen, row = [], 0
text = open(sys.argv[1], encoding="utf-8").read().replace("\r\n", "\n")
for part in re.split("(\x1b\\[[0-9]*[AJK]|\n|\r)", text):
    if part == "\n":
        row += 1
    elif part.endswith("A") and part.startswith("\x1b"):
        row -= int(part[2:-1])
    elif part.endswith("J") and part.startswith("\x1b"):
        del screen[row:]
    elif part and not part.startswith("\x1b") and part != "\r":
        while len(screen) <= row:
            screen.append("")
        screen[row] = part
print("\n".join(screen))
END
holds "$(head -n 30 "$work/screen")" test "$(grep -c 'IPC' "$work/screen")" -eq 1
holds "the summary follows" grep -q 'synth:stream on adaptive-80sm' "$work/screen"

tests_end
