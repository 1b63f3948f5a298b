# Completion of sluice for bash; `sluice complete` computes the candidates. To use it from a source tree:
#     source completions/sluice.bash
_sluice() {
    local line=${COMP_LINE:0:COMP_POINT} words candidates IFS=$' \t\n'
    # shellcheck disable=SC2162 # a blank that is escaped belongs to its word
    read -a words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=('')
    mapfile -t candidates < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null | cut -f 1)
    # bash replaces only what follows the last colon or equals sign of the word.
    local word=${words[-1]}
    COMPREPLY=("${candidates[@]#"${word%"${word##*[:=]}"}"}")
    COMPREPLY=("${COMPREPLY[@]// /\\ }")
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
}
complete -o default -F _sluice sluice
