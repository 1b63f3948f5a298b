# Reads a callgrind profile and prints `module<TAB>host instructions`: the instructions of a run by directory of src/, and `total`.
#
# An instruction belongs to the module of its source line, inlined or not. Lines of headers and functions of modules that only serve others (cache, base,
# ports, the C library) are charged to the caller; instructions that no module called (start-up, output) are `rest`.

# The module of a source file; "service" if the caller is charged.
function room_of(file,   parts, count, room) {
    if (file in rooms) return rooms[file]
    count = split(file, parts, "/")
    room = count >= 3 && parts[count - 2] == "src" ? parts[count - 1] : "service"
    if (room == "cache" || room == "base" || file ~ /\/gpu\/port\.[ch]$/) room = "service"
    return rooms[file] = room
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
function payer(   room) {
    room = file ~ /\.h$/ ? "service" : room_of(file)
    return room == "service" ? room_of(function_file) : room
}

/^fl=/ { function_file = file = callee_file = name_of("file", value()); next }
/^f[ie]=/ { file = name_of("file", value()); next }
/^fn=/ { name_of("function", value()); callee_file = function_file; next }
/^cf[il]=/ { callee_file = name_of("file", value()); next }
/^cfn=/ { name_of("function", value()); next }
/^calls=/ { is_call = 1; next }
/^[0-9+*-]/ {
    room = payer()
    if (is_call) {
        if (room != "service" && room_of(callee_file) == "service") cost[room] += $2
        is_call = 0
        callee_file = function_file
    } else {
        total += $2
        if (room != "service") cost[room] += $2
    }
}

END {
    rest = total
    for (room in cost) rest -= cost[room]
    for (room in cost) printf "%s\t%.0f\n", room, cost[room]
    printf "rest\t%.0f\ntotal\t%.0f\n", rest, total
}
