#!/usr/bin/env bash
# Every relative link in a Markdown file leads to a file and, after `#`, to a heading; the index of docs/ lists every page.
. "$(dirname "$0")/../testlib.sh"

# broken FILE...: `FILE:LINE: TARGET` of each link that does not resolve.
broken() {
    local place target file path
    awk -f tests/docs/links.awk "$@" | while IFS=$'\t' read -r place target; do
        file=${place%:*} path=${target%%#*}
        if [ -z "$path" ]; then path=$file; else path=$(dirname "$file")/$path; fi
        if [ ! -e "$path" ]; then
            echo "$place: $target"
        elif [ "$target" != "${target#*#}" ] && ! awk -v headings=1 -f tests/docs/links.awk "$path" | grep -qxF -- "${target#*#}"; then
            echo "$place: $target"
        fi
    done
}

testcase "a missing file and a missing heading are found, a link that resolves is not"
printf '# One `two`\n[a](#one-two) [b](missing.md)\n[c](#three) [d](https://example.org)\n```\n[e](missing.md)\n```\n' >"$work/page.md"
holds "found: $(broken "$work/page.md")" test "$(broken "$work/page.md" | cut -d ' ' -f 2 | tr '\n' ' ')" = 'missing.md #three '

testcase "every relative link resolves"
mapfile -t pages < <(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*')
holds "only ${#pages[@]} pages" test ${#pages[@]} -gt 20
found=$(broken "${pages[@]}")
holds "broken:"$'\n'"$found" test -z "$found"

testcase "docs/README.md lists every page of docs/"
for page in $(find docs -name '*.md' -not -path docs/README.md | sort); do
    holds "$page is not listed" grep -qF "](${page#docs/}" docs/README.md
done

testcase "every page of docs/ opens with a heading and a sentence"
for page in $(find docs -name '*.md' | sort); do
    holds "$page: no heading" grep -qE '^# ' <(head -n 1 "$page")
    holds "$page: no sentence after the heading" grep -qE '^[A-Z`"]' <(sed -n 3p "$page")
done

tests_end
