#!/usr/bin/env bash
# Measures everything that the documentation shows, with build/release/sluice, and writes it into the pages: outputs of commands, latencies, sensitivities,
# speed. Run it after a deliberate change of the model or of a program's output. The path of a load in docs/architecture.md is prose: path_test.sh reports when
# it is out of date.
set -eu
cd "$(dirname "$0")/../.."

for test in commands guide extending sensitivity sampling; do bash "tests/docs/${test}_test.sh" --update | grep -v '^ok ' || true; done

bench/run --quick --no-growth >build/speed.txt
sed -i 6,\$d build/speed.txt
awk '/^## Cost of a simulation/ { on = 1 } on && /^```/ { inside = !inside; print; if (inside) while ((getline line < "build/speed.txt") > 0) print line; else on = 0; next } !(on && inside)' docs/performance.md >build/performance.md
cp build/performance.md docs/performance.md
rm -f build/performance.md build/speed.txt

bash tests/docs/path_test.sh
