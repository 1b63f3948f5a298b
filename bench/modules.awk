# Reads a callgrind profile and prints `module<TAB>host instructions`: the instructions of a run by directory of src/, and `total`.
#
# An instruction belongs to the module of its source line, inlined or not. Lines of headers and functions of modules that only serve others (cache, base,
# ports, the C library) are charged to the caller; instructions that no module called (start-up, output) are `rest`.

# The module of a source file; "service" if the caller is charged.
function module_of(file,   parts, count, module) {
    if (file in modules) return modules[file]
    count = split(file, parts, "/")
    module = count >= 3 && parts[count - 2] == "src" ? parts[count - 1] : "service"
    if (module == "cache" || module == "base" || file ~ /\/sim\/port\.[ch]$/) module = "service"
    return modules[file] = module
}

# "(12) name" the first time, "(12)" after that.
function name_of(kind, text,   id, space) {
    space = index(text, " ")
    id = kind (space ? substr(text, 1, space - 1) : text)
    if (space) names[id] = substr(text, space + 1)
    return names[id]
}

function value() { return substr($0, index($0, "=") + 1) }

# The module charged for the current line: its own, or else that of the function it was inlined into.
function payer(   module) {
    module = file ~ /\.h$/ ? "service" : module_of(file)
    return module == "service" ? module_of(function_file) : module
}

/^fl=/ { function_file = file = callee_file = name_of("file", value()); next }
/^f[ie]=/ { file = name_of("file", value()); next }
/^fn=/ { name_of("function", value()); callee_file = function_file; next }
/^cf[il]=/ { callee_file = name_of("file", value()); next }
/^cfn=/ { name_of("function", value()); next }
/^calls=/ { is_call = 1; next }
/^[0-9+*-]/ {
    module = payer()
    if (is_call) {
        if (module != "service" && module_of(callee_file) == "service") cost[module] += $2
        is_call = 0
        callee_file = function_file
    } else {
        total += $2
        if (module != "service") cost[module] += $2
    }
}

END {
    rest = total
    for (module in cost) rest -= cost[module]
    for (module in cost) printf "%s\t%.0f\n", module, cost[module]
    printf "rest\t%.0f\ntotal\t%.0f\n", rest, total
}
