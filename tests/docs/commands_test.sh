#!/usr/bin/env bash
# The commands in README.md and docs/architecture.md print what the pages show.
#
# A `console` block holds commands (`$ ...`) and their output. Lines that tell of the host (`simulated in`) and of what was
# there already (`27 runs: ...`) may differ. A command whose output is a complaint ends with
# status 2, any other with 0. --update writes what was printed into the pages.
. "$(dirname "$0")/../testlib.sh"
. tests/docs/console.sh

try() {
    testcase "$1: $2"
    (set -o pipefail && eval "${2/#build\/release\/sluice/\"\$SLUICE\"}") >"$work/out" 2>&1
    status_fits $?
    printed_as_shown '^  simulated in|^[0-9]+ runs: '
}

for page in README.md docs/architecture.md; do console_page $page; done

tests_end
