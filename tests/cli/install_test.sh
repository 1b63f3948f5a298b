# An installation by `cmake --install` works without the source tree.
. "$(dirname "$0")/../testlib.sh"

testcase "an installed program finds its installed data"
holds "it can be installed" cmake --install "$(dirname "$SLUICE")" --prefix "$work/usr" >"$work/log"
data=$work/usr/share/sluice
for file in gpus/adaptive-80sm.yaml designs/private.yaml experiments/adaptive/fig11.yaml data/papers/papers.yaml data/papers/results.csv; do
    holds "$file is installed" cmp -s "$file" "$data/$file"
done
sluice list experiments
cp "$work/out" "$work/listed"
# A title that only the installed data has.
sed -i 's/^title: .*/title: installed beside the program/' "$data/experiments/adaptive/fig11.yaml"
"$work/usr/bin/sluice" list experiments >"$work/out"
holds "only that title differs" test "$(diff "$work/listed" "$work/out" | grep -c '^>')" -eq 1
holds "it is the installed one" grep -q 'adaptive/fig11 .*installed beside the program' "$work/out"

tests_end
