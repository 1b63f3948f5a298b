#include "base/csv.h"

#include <string.h>

void csv_write(FILE *out, const char *text, bool first) {
    if (!first) fputc(',', out);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

const char *csv_take(char **at, char *end) {
    char *from = *at, *to = *at, *field = *at;
    bool quoted = *from == '"';
    if (quoted) from++;
    while (*from && (quoted || !strchr(",\r\n", *from))) {
        if (quoted && *from == '"') {
            if (from[1] != '"') break;
            from++;
        }
        *to++ = *from++;
    }
    if (quoted && *from == '"') from++;
    if (from[0] == '\r' && from[1] == '\n') from++;
    *end = *from;
    *at = *from ? from + 1 : from;
    *to = '\0';
    return field;
}
