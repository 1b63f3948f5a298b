# Reads Markdown files: prints `FILE:LINE<TAB>TARGET` for each relative link outside of code, and with -v headings=1 the
# anchors of the headings instead, as GitHub makes them, one per line.
FNR == 1 { block = 0; delete seen }
/^ *```/ { block = !block; next }
block { next }
headings && /^#+ / {
    slug = tolower($0)
    sub(/^#+ +/, "", slug)
    while (match(slug, /\]\([^)]*\)/)) slug = substr(slug, 1, RSTART - 1) substr(slug, RSTART + RLENGTH)
    gsub(/[][`!"#$%&'()*+,.\/:;<=>?@^{|}~\\–—×²]/, "", slug)
    gsub(/ /, "-", slug)
    print slug (seen[slug]++ ? "-" seen[slug] - 1 : "")
    next
}
!headings {
    line = $0
    gsub(/`[^`]*`/, "", line)
    while (match(line, /\]\([^) ]+/)) {
        target = substr(line, RSTART + 2, RLENGTH - 2)
        line = substr(line, RSTART + RLENGTH)
        if (target !~ /^[a-z]+:/) print FILENAME ":" FNR "\t" target
    }
    while (match(line, /(src|srcset|href)="[^"]+"/)) {
        target = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        sub(/^[a-z]+="/, "", target)
        sub(/"$/, "", target)
        if (target !~ /^[a-z]+:/) print FILENAME ":" FNR "\t" target
    }
}
