/* `sluice`: dispatches to the subcommand. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/draft.h"
#include "cli/command.h"

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
};
const unsigned command_count = COUNT_OF(commands);

const struct command *command_find(const char *name) {
    for (unsigned i = 0; i < command_count; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static enum status unknown(const char *name) {
    const char *names[COUNT_OF(commands)];
    char near[128];
    for (unsigned i = 0; i < command_count; i++) names[i] = commands[i]->name;
    hint(name, names, command_count, near, sizeof near);
    return complain(NULL, "unknown command `%s`;%s", name, near[0] ? near : " `sluice help` lists the commands");
}

/* Output that cannot be written (full disk, closed pipe) is a failure. */
static enum status flushed(enum status status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (status == STATUS_DONE) perror("sluice: standard output");
    return status == STATUS_DONE ? STATUS_FAILED : status;
}

/* Ends the process, without temporary files. Results that were complete before remain. */
static void out_of_memory(void) {
    static const char text[] = "sluice: out of memory\n";
    drafts_remove();
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
    }
    _exit(STATUS_FAILED);
}

/* Takes `--errors FORM` out of the arguments: it applies to every command, and to the search for one. */
static bool errors_option(int *argc, char **argv) {
    static const char name[] = "--errors";
    int kept = 1;
    bool good = true, only_words = false;
    for (int i = 1; i < *argc; i++) {
        const char *form = NULL;
        only_words |= strcmp(argv[i], "--") == 0;
        if (!only_words && strcmp(argv[i], name) == 0)
            form = i + 1 < *argc ? argv[++i] : "";
        else if (!only_words && strncmp(argv[i], name, strlen(name)) == 0 && argv[i][strlen(name)] == '=')
            form = argv[i] + strlen(name) + 1;
        else
            argv[kept++] = argv[i];
        if (form && !errors_as(form))
            good = (complain(NULL, "--errors requires `text` or `json`, not `%s`", form), false);
    }
    *argc = kept;
    argv[kept] = NULL;
    return good;
}

int main(int argc, char **argv) {
    mem_on_exhaustion(out_of_memory);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit fails, as on a full disk */
    setlocale(LC_CTYPE, "");  /* only to detect a UTF-8 terminal */
    if (!errors_option(&argc, argv)) return STATUS_BAD_INPUT;
    if (argc < 2) {
        fputs("usage: sluice COMMAND [ARGUMENTS] [OPTIONS]; `sluice help` lists the commands\n", stderr);
        return STATUS_BAD_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) {
        puts("sluice " SLUICE_VERSION);
        return (int)flushed(STATUS_DONE);
    }
    const struct command *command = command_find(name);
    if (!command) return (int)unknown(name);
    errors_about(command->name, argc - 2, argv + 2);
    return (int)flushed(command->run(command, argc - 2, argv + 2));
}
