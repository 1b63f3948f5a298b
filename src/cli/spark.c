#include "cli/spark.h"

#include <langinfo.h>
#include <string.h>

bool spark_unicode(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

void spark_draw(FILE *out, const double *values, unsigned count, double top, bool unicode) {
    static const char *const bars[] = {"\xE2\x96\x81", "\xE2\x96\x82", "\xE2\x96\x83", "\xE2\x96\x84",
                                       "\xE2\x96\x85", "\xE2\x96\x86", "\xE2\x96\x87", "\xE2\x96\x88"};
    static const char plain[] = "_.,-=+*#";
    bool scaled = top <= 0;
    for (unsigned i = 0; scaled && i < count; i++) top = values[i] > top ? values[i] : top;
    for (unsigned i = 0; i < count; i++) {
        unsigned level = top > 0 ? (unsigned)(7.99 * values[i] / top) : 0;
        level = level > 7 ? 7 : level;
        unicode ? (void)fputs(bars[level], out) : (void)fputc(plain[level], out);
    }
}
