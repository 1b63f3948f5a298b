#!/usr/bin/env bash
# A report in a real browser, Chromium without a window: browser.js goes into the page and says what it found there. The experiments of
# this folder are small, and have a figure of every kind. Needs Debian's chromium, which ./check --full installs; where it is missing this says so and
# tests nothing.
. "$(dirname "$0")/../testlib.sh"

if ! command -v chromium >/dev/null; then
    echo 'skipped: chromium is not installed'
    tests_end
fi

page=$work/report.html
testcase "the experiments of every kind run and become a report"
sluice lab run tests/report/*.yaml --store "$work/results.sqlite" -j 2
status_is 0
sluice report tests/report/*.yaml --store "$work/results.sqlite" -o "$page"
status_is 0
holds "there is no page" test -s "$page"

# The page with the script in it, and from its head on a record of errors.
awk -v script=tests/report/browser.js '
    /<head>/ { print; print "<script>const errors = []; addEventListener(\"error\", (event) => errors.push(event.message));"
               print "addEventListener(\"unhandledrejection\", (event) => errors.push(String(event.reason)));"
               print "console.error = (...words) => errors.push(words.join(\" \"));</script>"; next }
    /<\/body>/ { print "<script>"; while ((getline line < script) > 0) print line; print "</script>" }
    { print }' "$page" >"$work/probed.html"

for window in 1280,900 500,900; do
    timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size=$window --virtual-time-budget=10000 \
        --dump-dom "file://$work/probed.html" >"$work/dom" 2>"$work/log"
    awk '/<pre id="found">/ { on = 1; next } /<\/pre>/ { on = 0 } on' "$work/dom" >"$work/found"
    testcase "in a window of $window pixels the page is looked at to its end"
    holds "$(tail -n 3 "$work/log")" test -s "$work/found"
    while IFS= read -r line; do
        testcase "$window pixels: ${line#?? }"
        holds "${line#*: }" test "${line%% *}" = ok
    done <"$work/found"
done

tests_end
