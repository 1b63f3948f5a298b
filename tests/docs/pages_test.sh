#!/usr/bin/env bash
# Generated pages: each is what its kept results give, and kept results of each paper can be reproduced.
. "$(dirname "$0")/../testlib.sh"

pages() {
    last_command="tools/pages $*"
    SLUICE=$SLUICE python3 tools/pages "$@" >"$work/out" 2>"$work/err"
    last_status=$?
}

testcase "every generated page is what its data give"
pages --check
status_is 0
holds "no page is generated: $(cat "$work/out")" grep -q 'as its data give it' "$work/out"

# A copy in which the data and the page can be damaged.
generated=$(grep -l '^<!-- results ' docs/reproduction/*.md | head -n 1)
copy=$work/$(basename "$generated")
restore() {
    rm -rf "$work/results" "$work/figures"
    cp "$generated" "$copy"
    cp -r docs/reproduction/figures "$work/figures"
    cp -r data/results "$work/results"
    sed -i 's:(\.\./\.\./data/results/\([a-z]*\)):(results/\1):' "$copy"
}
kept=$(sed -n 's/^<!-- results [a-z]*: \([^ ]*\) .*/\1/p' "$generated")

testcase "an edited digit on a page is noticed"
restore
pages --check --data "$work/results" "$copy"
status_is 0
sed -i '0,/^| `[a-z0-9]*` | \([0-9.]*\)\([0-9]\)/s//| `edited` | \19/' "$copy"
pages --check --data "$work/results" "$copy"
status_is 1
err_has "differs from its data"

testcase "a row of arithmetic means is over the workloads"
restore
column=$(sed -n '/^<!-- table/{n;p;q}' "$copy")
printf '\n<!-- table\n%s | .6f\narithmetic: arithmetic\n-->\n<!-- end -->\n' "${column% | *}" >>"$copy"
pages --data "$work/results" "$copy"
status_is 0
holds "the last row is not the mean of the others: $(tail -n 3 "$copy")" awk -F '|' '
    /^<!-- table/ { sum = count = 0 }
    /^\| `/ { sum += $3; count++ }
    /^\| arithmetic/ { given = $3 }
    END { mean = sum / count; exit count < 2 || given - mean > 2e-6 || mean - given > 2e-6 }' "$copy"

testcase "a page names experiments whose results are not complete, and shows the others"
restore
printf '\n<!-- pending none/x -->\n<!-- end -->\n\n<!-- table\ncolumn: a | none/x | IPC | b | .3f\n-->\n<!-- end -->\n' >>"$copy"
pages --data "$work/results" "$copy"
status_is 0
holds "no remark: $(tail -n 9 "$copy")" grep -qx '\*The runs of `none/x` are not complete yet.\*' "$copy"
pages --check --data "$work/results" "$copy"
status_is 0
sed -i "s:none/x:$kept:" "$copy"
pages --check --data "$work/results" "$copy"
status_is 1
err_has "the results of $kept are complete"

testcase "an edited digit in the data is noticed"
restore
sed -i '2s/,\([0-9]*\)1\([0-9]*\),/,\12\2,/' "$work/results/$kept.csv"
pages --check --data "$work/results" "$copy"
status_is 1
err_has "does not match its checksum"

testcase "a published value without a row is noticed"
restore
sed -i '0,/^[a-z]*-[0-9]*:/{/^[a-z]*-[0-9]*:/d}' "$copy"
pages --check --data "$work/results" "$copy"
status_is 1
err_has "these published values have no row"

testcase "a figure that was drawn from other data is noticed"
restore
svg=$(ls "$work"/figures/*.svg | head -n 1)
sed -i 's/<!-- data .* -->/<!-- data 0 -->/' "$svg"
pages --check --data "$work/results" "$copy"
status_is 1
err_has "is not drawn from the kept results"

testcase "results of several models on a page are noticed"
restore
python3 tests/lab/alter_kept.py "$work/results/$kept.csv" model 00000000000000000000000000000000
pages --check --data "$work/results" "$copy"
status_is 1
err_has "of several models"

# A few cheap rows of each paper with kept results; twenty in long tests. A page names its model: if the model has changed since, a
# difference is reported and is not a failure.
rows=3 within=30
[ -z "${SLUICE_LONG_TESTS:-}" ] || rows=20 within=600
for folder in data/results/*/; do
    paper=$(basename "$folder")
    testcase "kept results of $paper are reproduced"
    "$SLUICE" reproduce "$paper" --verify $rows --within $within --seed "${SLUICE_SEED:-1}" -j "${JOBS:-1}" >"$work/out" 2>"$work/err"
    last_status=$? last_command="sluice reproduce $paper --verify $rows"
    holds "rows are rerun: $(tail -n 3 "$work/out" "$work/err")" grep -q "$rows of [0-9]* kept runs rerun" "$work/out"
    changed=$(grep -c 'differs .*model changed since' "$work/out")
    differ=$(grep -c '^differs' "$work/out")
    holds "they differ: $(grep '^differs' "$work/out" | head -n 3)" test "$differ" -eq "$changed"
    [ "$changed" -eq 0 ] || echo "note: $changed of $rows kept results of $paper differ; the model changed since they were kept"
done

tests_end
