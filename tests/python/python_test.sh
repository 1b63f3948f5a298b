#!/usr/bin/env bash
# The Python package: its tests by pytest, the example of docs/scripting.md, and its installation by pip where pip is.
. "$(dirname "$0")/../testlib.sh"

python=/usr/bin/python3 # Debian's packages are those of Debian's interpreter
export SLUICE PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/python

testcase "the tests of the package pass"
"$python" -m pytest -q -p no:cacheprovider python/tests >"$work/out" 2>&1
status=$?
holds "pytest: $(tail -n 5 "$work/out")" test $status -eq 0
holds "fewer than 10 tests" grep -qE '^[1-9][0-9] passed' "$work/out"

testcase "the example of docs/scripting.md runs"
awk '/^```python/ { on = 1; next } /^```/ { on = 0 } on' docs/scripting.md | sed "s:build/sharing.sqlite:$work/sharing.sqlite:" >"$work/example.py"
mkdir -p build
"$python" "$work/example.py" >"$work/out" 2>&1
status=$?
holds "status $status: $(tail -n 3 "$work/out")" test $status -eq 0
holds "no frame" grep -q 'mm_tiled' "$work/out"
holds "docs/scripting.svg differs (if that is intended: cp build/scripting.svg docs)" cmp -s build/scripting.svg docs/scripting.svg

if "$python" -c 'import setuptools, wheel, pip' 2>/dev/null; then
    testcase "pip installs it from the tree"
    cp -r python "$work/source"
    "$python" -m pip install --quiet --no-build-isolation --no-deps --target "$work/site" "$work/source" >"$work/out" 2>&1
    status=$?
    holds "status $status: $(tail -n 3 "$work/out")" test $status -eq 0
    holds "the installed package does not run" env PYTHONPATH="$work/site" "$python" -c 'import sluice; assert sluice.run("mm:tiny").cycles > 0'
fi

tests_end
