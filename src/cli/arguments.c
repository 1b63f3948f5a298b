/* Parses a subcommand's arguments by its table of options. `--name value` and `--name=value` are equivalent; `--` ends
 * the options. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/style.h"

/* Set once by main, before any message. */
static bool errors_are_json;
static struct {
    const char *command;
    int count;
    char *const *word;
} about;

bool errors_as(const char *form) {
    errors_are_json = strcmp(form, "json") == 0;
    return errors_are_json || strcmp(form, "text") == 0;
}

void errors_about(const char *command, int argc, char *const *argv) {
    about.command = command;
    about.count = argc;
    about.word = argv;
}

/* Whether a word of the command line, which a message is about, is the name of a file: it exists, is a path, or is missing. */
static bool is_file(const char *word, const char *message) {
    return access(word, F_OK) == 0 || strchr(word, '/') || strcmp(message, strerror(ENOENT)) == 0;
}

/* The file of the command line with which the message begins, "FILE: ", or that it cannot read; its length in `text`, 0: none. Sets
 * `rest` to what follows. */
static const char *file_of(const char *text, size_t *length, size_t *rest) {
    static const char unreadable[] = "cannot read '";
    for (int i = 0; i < about.count; i++) {
        const char *word = about.word[i], *equals = word[0] == '-' ? strchr(word, '=') : NULL;
        word = equals ? equals + 1 : word;
        *length = strlen(word);
        *rest = *length + 2;
        if (*length == 0 || word[0] == '-') continue;
        if (strncmp(text, word, *length) == 0 && strncmp(text + *length, ": ", 2) == 0 && is_file(word, text + *rest))
            return word;
        *rest = 0; /* the message needs the name */
        size_t start = strlen(unreadable);
        if (strncmp(text, unreadable, start) == 0 && strncmp(text + start, word, *length) == 0 &&
            text[start + *length] == '\'')
            return word;
    }
    return NULL;
}

/* Finds "FILE:LINE:COLUMN: " at the beginning of a message; returns the offset of what follows, or 0. */
static size_t location(const char *text, int *file_length, unsigned *line, unsigned *column) {
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        int end = 0;
        if (sscanf(colon, ":%u:%u: %n", line, column, &end) != 2 || end == 0) continue;
        *file_length = (int)(colon - text);
        return (size_t)(colon - text) + (size_t)end;
    }
    return 0;
}

static void message_print(const char *command, const char *text) {
    if (!errors_are_json) {
        static const char warning[] = "warning: ";
        bool warns = strncmp(text, warning, strlen(warning)) == 0;
        fprintf(stderr, "%ssluice%s%s:%s%s %s\n", style(stderr, warns ? STYLE_WARNING : STYLE_BAD), *command ? " " : "",
                command, warns ? " warning:" : "", style(stderr, STYLE_NONE), warns ? text + strlen(warning) : text);
        return;
    }
    int file_length = 0;
    unsigned line = 0, column = 0;
    size_t rest = location(text, &file_length, &line, &column);
    struct json json;
    json_start(&json, stderr);
    json_object_compact(&json);
    if (!*command && about.command) command = about.command;
    if (*command) json_put_text(&json, "command", command);
    size_t word_length = 0;
    const char *word = rest ? NULL : file_of(text, &word_length, &rest);
    if (word) {
        json_put_text(&json, "file", word);
    } else if (file_length) {
        char *file = text_format("%.*s", file_length, text);
        json_put_text(&json, "file", file);
        json_put_unsigned(&json, "line", line);
        json_put_unsigned(&json, "column", column);
        free(file);
    }
    json_put_text(&json, "message", text + (word || file_length ? rest : 0));
    json_end(&json);
    json_finish(&json);
}

enum status complain(const struct command *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char text[sizeof((struct error *)NULL)->text];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message_print(command ? command->name : "", text);
    return STATUS_BAD_INPUT;
}

enum status complain_error(const struct error *err) {
    message_print("", err->text);
    return STATUS_BAD_INPUT;
}

const char *hint(const char *word, const char *const *names, unsigned count, char *text, size_t size) {
    const char *near = nearest_name(word, names, count);
    text[0] = '\0';
    if (near) snprintf(text, size, " did you mean `%s`?", near);
    return text;
}

static const struct option *option_find(const struct command *command, const char *name, size_t length) {
    for (unsigned i = 0; i < command->option_count; i++)
        if (strncmp(command->options[i].name, name, length) == 0 && command->options[i].name[length] == '\0')
            return &command->options[i];
    return NULL;
}

static bool option_unknown(const struct command *command, const char *word, size_t length) {
    const char *names[32] = {"--help"};
    char given[64], near[128];
    unsigned count = 1;
    for (unsigned i = 0; i < command->option_count && count < COUNT_OF(names); i++)
        names[count++] = command->options[i].name;
    snprintf(given, sizeof given, "%.*s", (int)length, word);
    hint(given, names, count, near, sizeof near);
    if (!near[0]) snprintf(near, sizeof near, " `sluice help %s` lists the options", command->name);
    complain(command, "unknown option `%s`;%s", given, near);
    return false;
}

static bool count_read(const struct command *command, const struct option *option, const char *text, uint64_t *value) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number > 0) {
        *value = number;
        return true;
    }
    complain(command, "%s requires a positive integer, not `%s`", option->name, text);
    return false;
}

static bool option_take(const struct command *command, const struct option *option, const char *value, void *values) {
    void *to = (char *)values + option->offset;
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)to = true; return true;
    case OPTION_TEXT: *(const char **)to = value; return true;
    case OPTION_COUNT: return count_read(command, option, value, to);
    case OPTION_LIST: break;
    }
    struct text_list *list = to;
    if (list->count == TEXT_LIST_MAX) {
        complain(command, "%s is given more than %d times", option->name, TEXT_LIST_MAX);
        return false;
    }
    list->text[list->count++] = value;
    return true;
}

/* One option with its value, which may be the next argument. */
static bool option_read(const struct command *command, int argc, char **argv, int *i, void *values) {
    const char *word = argv[*i], *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option = option_find(command, word, length);
    const char *value = equals ? equals + 1 : NULL;
    if (!option && word[1] != '-' && word[2] != '\0') { /* -j4 */
        option = option_find(command, word, 2);
        value = word + 2;
    }
    if (!option) return option_unknown(command, word, length);
    if (option->kind == OPTION_FLAG && value) {
        complain(command, "%s takes no value", option->name);
        return false;
    }
    if (option->kind != OPTION_FLAG && !value) {
        if (*i + 1 == argc) {
            complain(command, "%s requires a value: %s %s", option->name, option->name, option->argument);
            return false;
        }
        value = argv[++*i];
    }
    return option_take(command, option, value, values);
}

bool arguments_read(const struct command *command, int argc, char **argv, void *values, struct arguments *arguments) {
    *arguments = (struct arguments){0};
    bool only_words = false;
    for (int i = 0; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            arguments->help = true;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!option_read(command, argc, argv, &i, values)) return false;
        } else if (arguments->count < COUNT_OF(arguments->word)) {
            arguments->word[arguments->count++] = argv[i];
        } else {
            complain(command, "too many arguments, starting at `%s`", argv[i]);
            return false;
        }
    }
    return true;
}
