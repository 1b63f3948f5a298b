/* Output on the terminal of standard error that is drawn again and again and removed at the end.
 *
 * A page uses the alternate screen, as pagers do: a page that is larger than the window, or a window that becomes smaller, then leaves
 * no lines behind. Everything is cut to the size of the window, which is read each time. */
#ifndef SLUICE_CLI_SCREEN_H
#define SLUICE_CLI_SCREEN_H

#include <stddef.h>
#include <stdio.h>

struct screen_size {
    unsigned columns, rows;
};
struct screen_size screen_size(void);

/* A progress line: replaces the one before. */
void screen_line(const char *text);
/* Removes it. */
void screen_line_end(void);

/* A page: the lines that are written to the file replace the page before. */
FILE *screen_page(char **text, size_t *size);
/* Closes the file, shows the page and frees the text. */
void screen_show(FILE *page, char **text);
/* Removes the page, so that other output can follow. Safe in signal handlers. */
void screen_leave(void);

#endif
