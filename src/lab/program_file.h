/* Launch files, recordings and SASS traces as workloads of experiments. The identity of a run depends on the contents of all files
 * that it reads, not on their paths. */
#ifndef SLUICE_LAB_PROGRAM_FILE_H
#define SLUICE_LAB_PROGRAM_FILE_H

#include "base/error.h"
#include "lab/identity.h"

struct program_file {
    const char *option; /* of `sluice run`: --launch or --trace */
    char *path;         /* absolute */
    char *workload;     /* its name in results */
    bool sass;          /* a SASS trace */
    char content[IDENTITY_LENGTH +
                 1]; /* hash of a launch file or of the command list of a trace, and of all files that it
                                          names; or of a recording */
};

/* Whether a workload is a file: it has a directory or an extension, which no bundled workload has. */
bool program_is_file(const char *word);

/* Reads and checks the file: a launch file if its name ends in .yaml or .yml, a trace by its name (sass/list.h), otherwise
 * a recording. A directory is a trace if it has a kernelslist.g. Of a trace the headers of its kernels are checked. */
bool program_file_open(struct program_file *file, const char *path, struct error *err);
void program_file_release(struct program_file *file);

/* Whether the files still have the content that `content` is the hash of. */
bool program_file_unchanged(const char *path, const char *content, struct error *err);

#endif
