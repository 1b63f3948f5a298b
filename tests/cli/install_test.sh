# An installed program works without the tree that it was built from, wherever its prefix is.
. "$(dirname "$0")/../testlib.sh"

testcase "an installed program reads the data of its own prefix"
holds "it can be installed" cmake --install "$(dirname "$SLUICE")" --prefix "$work/usr" >"$work/log"
data=$work/usr/share/sluice
for file in gpus/adaptive-80sm.yaml designs/private.yaml energy/gpu-pascal.yaml experiments/adaptive/fig11.yaml data/papers/papers.yaml data/papers/results.csv data/reference/microbench/measurements.csv; do
    holds "$file is installed" cmp -s "$file" "$data/$file"
done
sluice list experiments
cp "$work/out" "$work/listed"
# A title that only the installed data has.
sed -i 's/^title: .*/title: installed in the prefix/' "$data/experiments/adaptive/fig11.yaml"
"$work/usr/bin/sluice" list experiments >"$work/out"
holds "only that title differs" test "$(diff "$work/listed" "$work/out" | grep -c '^>')" -eq 1
holds "it is the installed one" grep -q 'adaptive/fig11 .*installed in the prefix' "$work/out"

testcase "licence, manual and documentation are installed"
holds "the licence" cmp -s LICENSE "$work/usr/share/doc/sluice/copyright"
holds "the manual page" cmp -s man/sluice.1 "$work/usr/share/man/man1/sluice.1"
holds "a launch file runs" "$work/usr/bin/sluice" run --launch "$work/usr/share/doc/sluice/examples/saxpy.yaml" >"$work/log"
# Every relative link of the README leads to an installed file.
grep -oE '\]\([^):]+\)' README.md | tr -d '](),' | sed 's/#.*//' | sort -u >"$work/links"
holds "the README has links" test -s "$work/links"
while IFS= read -r link; do
    holds "README.md links to $link" test -e "$work/usr/share/doc/sluice/$link"
done <"$work/links"

# apart COMMAND...: runs a command in a mount namespace that hides the source tree and the build tree. Where namespaces are not
# permitted it only runs the command, and the last test is what remains.
apart() {
    unshare --user --map-root-user --mount true 2>/dev/null || { "$@"; return; }
    unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none "$1" && mount -t tmpfs none "$2" && shift 2 && exec "$@"' \
        sh "$(dirname "$SLUICE")" "$tree" "$@"
}

# installed ARGUMENTS...: the moved program, from a directory of its own.
installed() {
    (cd "$work/elsewhere" && apart timeout 100 "$program" "$@") >"$work/out" 2>"$work/err"
    check $? "\`sluice $*\` fails: $(head -n 3 "$work/err")"
}

testcase "a moved prefix runs where source and build tree are not visible"
tree=$PWD
mkdir "$work/elsewhere"
mv "$work/usr" "$work/elsewhere/prefix"
program=$work/elsewhere/prefix/bin/sluice
installed run va:tiny
installed run synth:alu --gpu selrep-64sm --design private --set workload.ctas=1
installed overhead --design selrep
installed list experiments
holds "the data are those of the moved prefix" grep -q 'installed in the prefix' "$work/out"
. tests/cudart/plain.sh
plain 12 "$work/elsewhere/program"
installed exec --functional -- ./program
holds "the program ran" grep -q passed "$work/out"
cp examples/saxpy.cu "$work/elsewhere"
installed cuda --compiler clang saxpy.cu
holds "a launch file is printed" grep -q 'kernel: saxpy' "$work/out"
installed reproduce quick/sharing --size tiny -j 1 --store quick.sqlite
holds "the report has published values" grep -q 'adaptive-0' "$work/elsewhere/quick-sharing.html"

# Sanitizers compile the paths of sources into their reports.
if ! grep -qa __asan_init "$program"; then
    testcase "no path of the source tree is compiled in"
    holds "the program can be stripped" strip -o "$work/stripped" "$program" # debug information has such paths
    holds "$(strings "$work/stripped" | grep -F "$tree" | head -n 3)" test "$(strings "$work/stripped" | grep -cF "$tree")" -eq 0
fi

tests_end
