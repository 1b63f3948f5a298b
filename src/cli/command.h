/* The command line as tables: a subcommand is one file with a `struct command` and one line in commands.def. Its option
 * table drives parsing, hints, `sluice help`, docs/commands.md and man/sluice.1.
 *
 * Only this module prints and sets the exit status. */
#ifndef SLUICE_CLI_COMMAND_H
#define SLUICE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum status {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,    /* a run failed or was interrupted, or a check failed */
    STATUS_BAD_INPUT = 2, /* invalid input */
};

enum option_kind {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char *; the last occurrence counts */
    OPTION_COUNT, /* uint64_t, 1 or more */
    OPTION_LIST,  /* struct text_list, repeatable */
};

enum { TEXT_LIST_MAX = 512 };

struct text_list {
    unsigned count;
    const char *text[TEXT_LIST_MAX];
};

struct option {
    const char *name;     /* "--gpu" */
    const char *argument; /* "NAME|FILE", NULL for a flag */
    enum option_kind kind;
    size_t offset; /* in the command's values */
    const char *help;
};

struct example {
    const char *command, *shows;
};

struct command {
    const char *name, *synopsis, *summary;
    const char *const *details; /* paragraphs, ended by NULL */
    const struct option *options;
    unsigned option_count;
    const struct example *examples;
    unsigned example_count;
    enum status (*run)(const struct command *command, int argc, char **argv);
};

extern const struct command *const commands[];
extern const unsigned command_count;

/* The arguments that are not options. */
struct arguments {
    unsigned count;
    const char *word[64];
    bool help; /* --help was among the options */
};

/* Parses argv (after the subcommand's name) into `values`, a struct laid out by the command's options. Returns false
 * after printing an error. `values` may be NULL for a command without options. */
bool arguments_read(const struct command *command, int argc, char **argv, void *values, struct arguments *arguments);

/* Prints messages from now on as "text", or as "json": one object per line. False if it is neither. */
bool errors_as(const char *form);
/* The command line that messages are about: JSON has its command, and a file of it that a message begins with. */
void errors_about(const char *command, int argc, char *const *argv);
/* Prints "sluice run: " and the message to standard error. Always returns STATUS_BAD_INPUT. */
enum status complain(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints an error of the library, which has its own location. */
enum status complain_error(const struct error *err);
/* " did you mean `x`?" for an unknown word, or the empty string. */
const char *hint(const char *word, const char *const *names, unsigned count, char *text, size_t size);

/* `sluice help NAME`. */
void help_print(const struct command *command);
const struct command *command_find(const char *name);

#endif
