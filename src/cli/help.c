/* `sluice help`: the tables of commands as text, as Markdown (docs/commands.md) and as a manual page (man/sluice.1). */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/command.h"

struct help_values {
    bool man, markdown;
};

static const struct option options[] = {
    {"--markdown", NULL, OPTION_FLAG, offsetof(struct help_values, markdown),
     "print the complete reference as Markdown (docs/commands.md)"},
    {"--man", NULL, OPTION_FLAG, offsetof(struct help_values, man),
     "print the complete reference as a manual page (man/sluice.1)"},
};

static const char tagline[] = "a cycle-level simulator of GPU memory hierarchies";

/* Applies to every command. */
static const char *const common[] = {
    "Results are written to standard output. Progress is written to standard error if that is a terminal. An output"
    " file appears under its name when it is complete.",
    "The exit status is 0 on success, 1 if a run failed or was interrupted or a check failed, and 2 if the input is"
    " invalid; the error message then gives the location and the fix. With `--errors json`, which every command accepts,"
    " each error message is a JSON object on one line: `message`, and where they are known `command`, `file`, `line` and"
    " `column`.",
    "Ctrl-C, SIGTERM and SIGHUP (a closed terminal) end a run cleanly: the statistics collected so far are written and marked as interrupted, and"
    " the exit status is 1.",
    NULL,
};

static const char environment[] =
    "SLUICE_HOME names a directory whose gpus/ and designs/ are used instead of the bundled ones. With NO_COLOR, if it is not"
    " empty, output on a terminal has no colours.";

/* As text */

enum { WIDTH = 100 };

/* Wraps `text` into lines that start at column `indent`; the cursor is at `column` already. */
static void wrap(const char *text, int indent, int column) {
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column < indent) {
            printf("%*s", indent - column, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void text_command(const struct command *command) {
    printf("usage: sluice %s\n", command->synopsis);
    for (const char *const *paragraph = command->details; *paragraph; paragraph++) {
        putchar('\n');
        wrap(*paragraph, 0, 0);
    }
    if (command->option_count) puts("\noptions:");
    for (unsigned i = 0; i < command->option_count; i++) {
        const struct option *option = &command->options[i];
        int column = printf("  %s %s", option->name, option->argument ? option->argument : "");
        if (column > 22) putchar('\n');
        wrap(option->help, 24, column > 22 ? 0 : column);
    }
    if (command->example_count) puts("\nexamples:");
    for (unsigned i = 0; i < command->example_count; i++) {
        printf("  $ %s\n", command->examples[i].command);
        wrap(command->examples[i].shows, 6, 0);
    }
}

static void text_overview(void) {
    printf("sluice %s: %s\n\nusage: sluice COMMAND [ARGUMENTS] [OPTIONS]\n\ncommands:\n", SLUICE_VERSION, tagline);
    int width = 0;
    for (unsigned i = 0; i < command_count; i++) width = (int)max_u64((uint64_t)width, strlen(commands[i]->name));
    for (unsigned i = 0; i < command_count; i++) printf("  %-*s  %s\n", width, commands[i]->name, commands[i]->summary);
    puts("\n`sluice help COMMAND` describes a command; `sluice --version` prints the version. Quick start:\n\n "
         " $ sluice run synth:stream");
}

void help_print(const struct command *command) { text_command(command); }

/* As Markdown */

/* Options form a list, not a table: the bar in NAME|FILE would end a table cell. */
static void markdown_command(const struct command *command) {
    printf("\n## sluice %s\n\n`sluice %s`\n", command->name, command->synopsis);
    for (const char *const *paragraph = command->details; *paragraph; paragraph++) printf("\n%s\n", *paragraph);
    if (command->option_count) putchar('\n');
    for (unsigned i = 0; i < command->option_count; i++) {
        const struct option *option = &command->options[i];
        printf("- `%s%s%s`: %s\n", option->name, option->argument ? " " : "", option->argument ? option->argument : "",
               option->help);
    }
    for (unsigned i = 0; i < command->example_count; i++)
        printf("\nExample: %s\n\n```\n$ %s\n```\n", command->examples[i].shows, command->examples[i].command);
}

static void markdown_all(void) {
    printf("# Command-line reference\n\nThis page is the output of `sluice help --markdown`. `sluice help` and the"
           " manual page have the same content.\n");
    for (const char *const *paragraph = common; *paragraph; paragraph++) printf("\n%s\n", *paragraph);
    printf("\n%s\n\n", environment);
    for (unsigned i = 0; i < command_count; i++)
        printf("- [`sluice %s`](#sluice-%s) %s\n", commands[i]->name, commands[i]->name, commands[i]->summary);
    for (unsigned i = 0; i < command_count; i++) markdown_command(commands[i]);
}

/* As a manual page */

/* Escapes backslashes and leading dots, which are roff syntax, and keeps hyphens as hyphens. */
static void man_words(const char *text) {
    for (const char *c = text; *c; c++) {
        if (c == text && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else if (*c == '`')
            fputs("\\(ga", stdout);
        else
            putchar(*c);
    }
}

static void man_text(const char *text) {
    man_words(text);
    putchar('\n');
}

static void man_option(const struct option *option) {
    fputs(".TP\n.BI \"", stdout);
    man_words(option->name);
    fputs(option->argument ? " \" \"" : "", stdout);
    man_words(option->argument ? option->argument : "");
    fputs("\"\n", stdout);
    man_text(option->help);
}

static void man_command(const struct command *command) {
    fputs(".SS ", stdout);
    man_text(command->synopsis);
    for (const char *const *paragraph = command->details; *paragraph; paragraph++) {
        if (paragraph != command->details) puts(".PP");
        man_text(*paragraph);
    }
    for (unsigned i = 0; i < command->option_count; i++) man_option(&command->options[i]);
}

static void man_all(void) {
    printf(".TH SLUICE 1 \"\" \"sluice %s\"\n.SH NAME\nsluice \\- %s\n.SH SYNOPSIS\n.B sluice\n.I COMMAND\n[ARGUMENTS]"
           " [OPTIONS]\n",
           SLUICE_VERSION, tagline);
    puts(".SH DESCRIPTION");
    for (const char *const *paragraph = common; *paragraph; paragraph++) {
        if (paragraph != common) puts(".PP");
        man_text(*paragraph);
    }
    puts(".SH COMMANDS");
    for (unsigned i = 0; i < command_count; i++) man_command(commands[i]);
    puts(".SH ENVIRONMENT");
    man_text(environment);
    puts(".SH EXAMPLES");
    for (unsigned i = 0; i < command_count; i++)
        for (unsigned e = 0; e < commands[i]->example_count; e++) {
            fputs(".TP\n.B ", stdout);
            man_text(commands[i]->examples[e].command);
            man_text(commands[i]->examples[e].shows);
        }
}

static enum status help(const struct command *command, int argc, char **argv) {
    struct help_values values = {0};
    struct arguments arguments;
    if (!arguments_read(command, argc, argv, &values, &arguments)) return STATUS_BAD_INPUT;
    if (arguments.count > 1)
        return complain(command, "help describes one command at a time: sluice help %s", arguments.word[0]);
    if (values.man || values.markdown) {
        if (values.man && values.markdown) return complain(command, "--man and --markdown are mutually exclusive");
        (values.man ? man_all : markdown_all)();
    } else if (arguments.count == 1) {
        const struct command *about = command_find(arguments.word[0]);
        const char *names[64];
        char near[128];
        unsigned count = 0;
        while (count < command_count && count < COUNT_OF(names)) names[count] = commands[count]->name, count++;
        hint(arguments.word[0], names, count, near, sizeof near);
        if (!about)
            return complain(command, "unknown command `%s`;%s", arguments.word[0],
                            near[0] ? near : " `sluice help` lists the commands");
        text_command(about);
    } else if (arguments.help) {
        text_command(command);
    } else {
        text_overview();
    }
    return STATUS_DONE;
}

static const char *const details[] = {
    "Lists the commands, or describes one command and its options. `sluice COMMAND --help` prints the same.",
    NULL,
};

static const struct example examples[] = {
    {"sluice help run", "describe `sluice run`"},
};

const struct command command_help = {
    .name = "help",
    .synopsis = "help [COMMAND]",
    .summary = "describes commands and their options",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = help,
};
