# Golden counters: the runs of tests/golden/matrix have the counters that are kept. What the comparison does is in golden.py.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
exec python3 tests/golden/golden.py "${SLUICE:-build/release/sluice}" -j "${JOBS:-$(getconf _NPROCESSORS_ONLN)}"
