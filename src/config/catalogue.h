/* Bundled files (YAML in gpus/, designs/ and experiments/; data/) and the configuration made of a GPU description, a
 * design and settings. GPU and design are each given by bundled name or as the path of a file. */
#ifndef SLUICE_CONFIG_CATALOGUE_H
#define SLUICE_CONFIG_CATALOGUE_H

#include "config/config.h"

#define DEFAULT_GPU "adaptive-80sm"

struct catalogue_entry {
    char *name; /* file name without .yaml, with its subdirectory if any: "adaptive/fig2" */
    char *path;
};

struct catalogue {
    unsigned count;
    struct catalogue_entry *entries; /* sorted by name */
    struct error unread;             /* set if a directory could not be read */
};

/* `folder` is "gpus", "designs" or "experiments". */
void catalogue_open(struct catalogue *catalogue, const char *folder);
void catalogue_close(struct catalogue *catalogue);

/* The path of the bundled directory, or NULL. The caller frees it. */
char *catalogue_folder(const char *folder);

/* Resolves a word to a path: a word with the extension of a YAML file is a path, any other a bundled name. NULL with an
 * error that suggests similar names; the caller frees it. */
char *catalogue_find(const char *folder, const char *noun, const char *word, struct error *err);

/* The checked configuration of a GPU (NULL: the default) with a design (NULL: none) and `key=value` settings on top, or
 * NULL with an error. */
struct config *config_build(const char *gpu, const char *design, const char *const *settings, unsigned setting_count,
                            struct error *err);

#endif
