# Converts a JSON document to lines of `path<TAB>value`, as in `stats.l1.hits<TAB>1234` and `kernels.0.name<TAB>alu`, so that shell scripts can read it
# with awk alone. Escapes in strings are kept, except \" and \\.

function skip_space() { while (match(substr(text, at, 1), /[ \t\r\n]/)) at++ }

function broken(what) {
    print "json-flat: " what " expected at character " at > "/dev/stderr"
    status = 1
    exit 1
}

function read_string(   start, c, result) {
    if (substr(text, at, 1) != "\"") broken("a string")
    result = ""
    for (start = ++at; (c = substr(text, at, 1)) != "\""; at++) {
        if (c == "") broken("the end of a string")
        if (c == "\\") {
            at++
            c = substr(text, at, 1)
            if (c != "\"" && c != "\\") result = result "\\"
        }
        result = result c
    }
    at++
    return result
}

function join(path, key) { return path == "" ? key : path "." key }

function read_value(path,   c, index_, key) {
    skip_space()
    c = substr(text, at, 1)
    if (c == "{" || c == "[") {
        at++
        for (index_ = 0; ; index_++) {
            skip_space()
            if (substr(text, at, 1) ~ /[}\]]/) break
            if (index_ > 0) {
                if (substr(text, at, 1) != ",") broken("a comma")
                at++
                skip_space()
            }
            key = index_
            if (c == "{") {
                key = read_string()
                skip_space()
                if (substr(text, at, 1) != ":") broken("a colon")
                at++
            }
            read_value(join(path, key))
        }
        at++
    } else if (c == "\"") {
        print path "\t" read_string()
    } else if (match(substr(text, at, 64), /^[-+.a-zA-Z0-9]+/)) {
        print path "\t" substr(text, at, RLENGTH)
        at += RLENGTH
    } else {
        broken("a value")
    }
}

{ text = text $0 "\n" }

END {
    if (status) exit status
    at = 1
    read_value("")
}
