/* Where bundled files are: gpus/, designs/ and experiments/ of YAML, and data/ beside them; and a machine's configuration
 * from a GPU description, a design and settings, each by its bundled name or as a file of one's own. */
#ifndef SLUICE_CONFIG_CATALOGUE_H
#define SLUICE_CONFIG_CATALOGUE_H

#include "config/config.h"

#define DEFAULT_GPU "adaptive-80sm"

struct catalogue_entry {
    char *name; /* the file's name without .yaml; with its folder, "adaptive/fig2", where there are folders */
    char *path;
};

struct catalogue {
    unsigned count;
    struct catalogue_entry *entries; /* by name */
};

/* `folder` is "gpus", "designs" or "experiments". */
void catalogue_open(struct catalogue *catalogue, const char *folder);
void catalogue_close(struct catalogue *catalogue);

/* The path of the bundled folder, or NULL. The caller frees it. */
char *catalogue_folder(const char *folder);

/* The path that a word stands for: a word with the ending of a YAML file is a path, any other a bundled name. NULL with
 * an error that knows near names; the caller frees it. */
char *catalogue_find(const char *folder, const char *noun, const char *word, struct error *err);

/* The checked configuration of a GPU (NULL: the default) with a design (NULL: none) and settings `key=value` on top, or
 * NULL with an error. */
struct config *config_build(const char *gpu, const char *design, const char *const *settings, unsigned setting_count,
                            struct error *err);

#endif
