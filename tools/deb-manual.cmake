# Compresses the manual page of a package that CPack is about to build: Debian policy, section 12.1. -n leaves out the time, so
# that two builds of one tree give the same file.
file(GLOB_RECURSE pages "${CPACK_TEMPORARY_DIRECTORY}/*.1")
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
