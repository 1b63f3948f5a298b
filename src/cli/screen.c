#include "cli/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"

/* A global, since a signal handler cannot use anything else. */
static volatile sig_atomic_t page_is_shown;

struct screen_size screen_size(void) {
    struct winsize size = {0};
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return (struct screen_size){size.ws_col ? size.ws_col : 120, size.ws_row ? size.ws_row : 24}; /* 0: unknown */
}

/* The bytes of the first characters of a line. The last column stays empty: a character there would make some terminals
 * begin a new line. */
static size_t cut(const char *line, size_t length, unsigned columns) {
    unsigned characters = 0;
    for (size_t i = 0; i < length; i++)
        if ((line[i] & 0xC0) != 0x80 && ++characters >= columns) return i;
    return length;
}

void screen_line(const char *text) {
    size_t length = cut(text, strlen(text), screen_size().columns);
    fprintf(stderr, "\r%.*s\x1b[K", (int)length, text);
}

void screen_line_end(void) { fputs("\r\x1b[K", stderr); }

/* The shell shows its own screen while the program is stopped; the next page comes back to this one. */
static void on_stop(int number) {
    (void)number;
    screen_leave();
    raise(SIGSTOP);
}

static void enter(void) {
    static const char begin[] = "\x1b[?1049h\x1b[?25l"; /* no cursor */
    struct sigaction now, action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    if (sigaction(SIGTSTP, NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(SIGTSTP, &action, NULL);
    page_is_shown = 1;
    fputs(begin, stderr);
}

void screen_leave(void) {
    static const char end[] = "\x1b[H\x1b[J\x1b[?25h\x1b[?1049l"; /* also clears a terminal without a second screen */
    if (!page_is_shown) return;
    page_is_shown = 0;
    ssize_t written = write(STDERR_FILENO, end, sizeof end - 1); /* standard error has no buffer */
    (void)written;
}

FILE *screen_page(char **text, size_t *size) {
    FILE *page = open_memstream(text, size);
    if (!page) mem_exhausted();
    return page;
}

void screen_show(FILE *page, char **text) {
    char *drawn = NULL;
    size_t drawn_size = 0;
    if (fclose(page) != 0 || !*text) mem_exhausted();
    FILE *out = screen_page(&drawn, &drawn_size); /* written at once, which does not flicker */
    struct screen_size size = screen_size();
    unsigned row = 0;
    fputs("\x1b[H", out);
    for (const char *line = *text; *line && row < size.rows; row++) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "%s%.*s\x1b[K", row ? "\n" : "", (int)cut(line, length, size.columns), line);
        line += length + (line[length] == '\n');
    }
    fputs(row < size.rows ? "\n\x1b[J" : "", out);
    if (fclose(out) != 0 || !drawn) mem_exhausted();
    if (!page_is_shown) enter();
    fputs(drawn, stderr);
    free(drawn);
    free(*text);
    *text = NULL;
}
