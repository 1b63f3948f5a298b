# Completion of sluice for fish; `sluice complete` computes the candidates. To use it from a source tree:
#     source completions/sluice.fish
complete -c sluice -a '(sluice complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
