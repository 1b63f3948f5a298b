# Reads a list of modules (lowest first), then source files: prints every include of a header of the same or a later module that is not the
# file's own, as FILE:LINE: ..., and every module that the list lacks.
FNR == NR {
    if ($0 !~ /^#/ && NF) rank[$1] = ++count
    next
}
FNR == 1 {
    at = FILENAME
    sub(/^.*src\//, "", at)
    sub(/\/.*/, "", at)
    if (!(at in rank) && !(at in told)) { print FILENAME ": module " at " is not in the list"; told[at] = 1 }
}
/^#include "/ {
    split($2, part, /["\/]/)
    if (part[3] == "") next # a file of its own folder, named without it
    if (!(part[2] in rank)) next # not a module: workloads/
    if (part[2] != at && rank[part[2]] > rank[at]) print FILENAME ":" FNR ": " at " includes " $2 ", of a later module"
}
