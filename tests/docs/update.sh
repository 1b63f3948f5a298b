#!/usr/bin/env bash
# Measures everything that the documentation shows, on build/release/sluice, and writes it there: outputs of commands, latencies, sensitivities, speed. For after a
# deliberate change of the model; the path of a load in docs/architecture.md is prose and is changed by hand (path_test.sh says when).
set -eu
cd "$(dirname "$0")/../.."

for test in commands guide extending sensitivity; do bash "tests/docs/${test}_test.sh" --update | grep -v '^ok ' || true; done

bench/run --quick --no-growth >build/speed.txt
sed -i 6,\$d build/speed.txt
awk '/^## How fast/ { on = 1 } on && /^```/ { inside = !inside; print; if (inside) while ((getline line < "build/speed.txt") > 0) print line; else on = 0; next } !(on && inside)' README.md >build/README.md
cp build/README.md README.md
rm -f build/README.md build/speed.txt

bash tests/docs/path_test.sh
