#!/usr/bin/env bash
# A report in headless Chromium: browser.js is embedded in the page and checks it. The experiments of this directory are small and cover every kind of
# figure. Needs Debian's chromium, which ./check --full installs; skipped without it.
. "$(dirname "$0")/../testlib.sh"

if ! command -v chromium >/dev/null; then
    echo 'skipped: chromium is not installed'
    tests_end
fi

page=$work/report.html
testcase "builds a report with every kind of figure"
sluice lab run tests/report/*.yaml --store "$work/results.sqlite" -j 2
status_is 0
sluice report tests/report/*.yaml --store "$work/results.sqlite" -o "$page"
status_is 0
holds "there is no page" test -s "$page"

# The page with the script, and with error recording from its head on.
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
    testcase "in a window of $window pixels the script completes"
    holds "$(tail -n 3 "$work/log")" test -s "$work/found"
    while IFS= read -r line; do
        testcase "$window pixels: ${line#?? }"
        holds "${line#*: }" test "${line%% *}" = ok
    done <"$work/found"
done

# On paper: text by pdftotext, in the order of the page.
if command -v pdftotext >/dev/null; then
    timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --virtual-time-budget=10000 \
        --print-to-pdf="$work/report.pdf" "file://$page" >/dev/null 2>"$work/log"
    pdftotext -layout "$work/report.pdf" "$work/printed"
    testcase "a printed chart has its legend"
    holds "the legend of bars.yaml" grep -Eq 'plain +narrow +wide' "$work/printed"
    testcase "a printed page has no controls"
    holds "no order to choose" sh -c "! grep -q 'as listed' '$work/printed'"
    # A canvas is a picture in the PDF: the widest must fit the page of A4 or letter less its margins.
    testcase "printed charts fit the page"
    widest=$(pdfimages -list "$work/report.pdf" | awk 'NR > 2 { inches = $4 / $13; if (inches > widest) widest = inches } END { print widest }')
    holds "$widest inches" awk -v widest="$widest" 'BEGIN { exit !(widest > 3 && widest < 8.3) }'
fi

tests_end
