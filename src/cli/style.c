#include "cli/style.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *style(FILE *out, enum style what) {
    static const char *const begin[] = {
        [STYLE_NONE] = "\x1b[0m",     [STYLE_TITLE] = "\x1b[1m", [STYLE_GOOD] = "\x1b[32m",
        [STYLE_WARNING] = "\x1b[33m", [STYLE_BAD] = "\x1b[31m",
    };
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
    return isatty(fileno(out)) && !dumb && !(unwanted && *unwanted) ? begin[what] : "";
}
