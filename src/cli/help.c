/* `sluice help`: the tables of commands as text, as Markdown (docs/commands.md) and as a manual page (man/sluice.1).
 * All three say the same, because all three are written from the same tables. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cli/command.h"

struct help_values {
    bool man, markdown;
};

static const struct option options[] = {
    {"--markdown", NULL, OPTION_FLAG, offsetof(struct help_values, markdown), "everything, as docs/commands.md"},
    {"--man", NULL, OPTION_FLAG, offsetof(struct help_values, man), "everything, as the manual page man/sluice.1"},
};

static const char tagline[] = "a GPU memory-hierarchy simulator";

/* What holds for every command. */
static const char *const common[] = {
    "Results go to standard output. Progress goes to standard error, and only when that is a terminal. Files"
    " appear under their name when they are"
    " complete, never before.",
    "The exit status is 0 when everything was done; 1 when a run failed, was interrupted or a check did not hold;"
    " and 2 when the input was wrong:"
    " then the message says where and what would be right.",
    "Ctrl-C and the TERM signal end a run in good order: the statistics so far are written, marked as interrupted,"
    " and the status is 1.",
    NULL,
};

static const char environment[] =
    "SLUICE_HOME names a folder that holds gpus/ and designs/, to be used instead of the ones that came with the"
    " program.";

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
    printf("sluice %s: %s\n\nusage: sluice COMMAND [WORDS AND OPTIONS]\n\ncommands:\n", SLUICE_VERSION, tagline);
    int width = 0;
    for (unsigned i = 0; i < command_count; i++) width = (int)max_u64((uint64_t)width, strlen(commands[i]->name));
    for (unsigned i = 0; i < command_count; i++) printf("  %-*s  %s\n", width, commands[i]->name, commands[i]->summary);
    puts("\n`sluice help COMMAND` says more on each, `sluice --version` which program this is. To begin with:\n\n "
         " $ sluice run synth:stream");
}

void help_print(const struct command *command) { text_command(command); }

/* As Markdown */

/* Options are a list and no table, because a bar in NAME|FILE would end a table's cell. */
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
        printf("\nExample, %s:\n\n```\n$ %s\n```\n", command->examples[i].shows, command->examples[i].command);
}

static void markdown_all(void) {
    printf("# The command line\n\nThis page is `sluice help --markdown`; `sluice help` and the manual page say the"
           " same.\n");
    for (const char *const *paragraph = common; *paragraph; paragraph++) printf("\n%s\n", *paragraph);
    printf("\n%s\n\n", environment);
    for (unsigned i = 0; i < command_count; i++)
        printf("- [`sluice %s`](#sluice-%s) %s\n", commands[i]->name, commands[i]->name, commands[i]->summary);
    for (unsigned i = 0; i < command_count; i++) markdown_command(commands[i]);
}

/* As a manual page */

/* Backslashes and leading dots mean something to roff, hyphens are to stay hyphens. */
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
    printf(".TH SLUICE 1 \"\" \"sluice %s\"\n.SH NAME\nsluice \\- %s\n.SH SYNOPSIS\n.B sluice\n.I COMMAND\n[WORDS AND"
           " OPTIONS]\n",
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
        return complain(command, "help is given on one command at a time: sluice help %s", arguments.word[0]);
    if (values.man || values.markdown) {
        if (values.man && values.markdown) return complain(command, "--man and --markdown are two texts: give one");
        (values.man ? man_all : markdown_all)();
    } else if (arguments.count == 1) {
        const struct command *about = command_find(arguments.word[0]);
        const char *names[16];
        char near[128];
        unsigned count = 0;
        while (count < command_count && count < COUNT_OF(names)) names[count] = commands[count]->name, count++;
        hint(arguments.word[0], names, count, near, sizeof near);
        if (!about)
            return complain(command, "there is no command `%s`;%s", arguments.word[0],
                            near[0] ? near : " `sluice help` names those there are");
        text_command(about);
    } else if (arguments.help) {
        text_command(command);
    } else {
        text_overview();
    }
    return STATUS_DONE;
}

static const char *const details[] = {
    "Says what there is to do, or what one command does and takes. `sluice COMMAND --help` is the same.",
    NULL,
};

static const struct example examples[] = {
    {"sluice help run", "what a run takes"},
};

const struct command command_help = {
    .name = "help",
    .synopsis = "help [COMMAND]",
    .summary = "says what there is and what it takes",
    .details = details,
    .options = options,
    .option_count = COUNT_OF(options),
    .examples = examples,
    .example_count = COUNT_OF(examples),
    .run = help,
};
