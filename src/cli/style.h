/* Colours and weights of text on a terminal. */
#ifndef SLUICE_CLI_STYLE_H
#define SLUICE_CLI_STYLE_H

#include <stdio.h>

enum style { STYLE_NONE, STYLE_TITLE, STYLE_GOOD, STYLE_WARNING, STYLE_BAD };

/* What begins a style, or ends it (STYLE_NONE); "" unless the stream is a terminal that understands it and the environment variable NO_COLOR is
 * empty or not set. */
const char *style(FILE *out, enum style what);

#endif
