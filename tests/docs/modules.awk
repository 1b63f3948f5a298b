# Reads a list of modules (lowest first), then source files. Prints every include that does not follow the order, as FILE:LINE: ..., and every
# module that the list lacks. A file includes headers of its own module, by their names alone or from the root, and of earlier modules, from the
# root; those of workloads/ by their names alone.
function module_of(file) {
    if (file ~ /(^|\/)workloads\//) return "workloads"
    sub(/^.*src\//, "", file)
    sub(/\/.*/, "", file)
    return file
}
FNR == NR {
    if ($0 !~ /^#/ && NF) rank[$1] = ++count
    next
}
FNR == 1 {
    at = module_of(FILENAME)
    if (!(at in rank) && !(at in reported)) { print FILENAME ": module " at " is not in the list"; reported[at] = 1 }
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    slash = index(quoted[2], "/")
    from = slash ? substr(quoted[2], 1, slash - 1) : quoted[2] == "work.h" ? "workloads" : at
    if (!(from in rank))
        print FILENAME ":" FNR ": \"" quoted[2] "\" is not below a module"
    else if (rank[from] > rank[at])
        print FILENAME ":" FNR ": " at " includes \"" quoted[2] "\", of a later module"
}
