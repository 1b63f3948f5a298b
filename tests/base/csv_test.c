#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "test.h"

TEST("fields with commas, quotes and line breaks survive writing and reading") {
    static const char *const fields[] = {"plain", "", "a,b", "say \"no\"", "two\nlines", "\"", ","};
    struct error err = {0};
    char *text, *at, end = ',';
    size_t length;
    FILE *out = text_open(&text, &length, &err);
    REQUIRE(out);
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) csv_write(out, fields[i], i == 0);
    fputs("\nnext", out);
    REQUIRE(text_close(out, &text, &err));
    at = text;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        CHECK_EQ(end, ',');
        CHECK_EQ(csv_take(&at, &end), fields[i]);
    }
    CHECK_EQ(end, '\n');
    CHECK_EQ(csv_take(&at, &end), "next");
    CHECK_EQ(end, '\0');
    free(text);
}

TEST("a row may end with a carriage return and a line feed") {
    char text[] = "a,b\r\nc";
    char *at = text, end;
    CHECK_EQ(csv_take(&at, &end), "a");
    CHECK_EQ(csv_take(&at, &end), "b");
    CHECK_EQ(end, '\n');
    CHECK_EQ(csv_take(&at, &end), "c");
}
