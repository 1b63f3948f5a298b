/* Axes and numbers of SVG pictures. */
#include <stdlib.h>

#include "base/output.h"
#include "report/svg.h"
#include "test.h"

TEST("a linear axis ends at a round number") {
    CHECK_EQ(axis_from_zero(31.2, 0, 300).high, 40.0);
    CHECK_EQ(axis_from_zero(100, 0, 300).high, 100.0);
    CHECK_EQ(axis_from_zero(0.0073, 0, 300).high, 0.008);
    CHECK_EQ(axis_from_zero(0, 0, 300).high, 1.0);
}

TEST("an axis places values between its ends, also downwards") {
    struct axis up = axis_from_zero(100, 200, 0);
    CHECK_EQ(axis_at(&up, 0), 200.0);
    CHECK_EQ(axis_at(&up, 100), 0.0);
    CHECK_EQ(axis_at(&up, 25), 150.0);
}

TEST("a logarithmic axis has whole decades") {
    struct axis axis = axis_decades(0.03, 160, 0, 500);
    CHECK_EQ(axis.low, -2.0);
    CHECK_EQ(axis.high, 3.0);
    CHECK_NEAR(axis_at(&axis, 10), 300.0, 1e-9);
    struct axis exact = axis_decades(10, 10, 0, 500);
    CHECK_EQ(exact.low, 1.0);
    CHECK_EQ(exact.high, 2.0);
}

TEST("numbers have at most four digits and a suffix") {
    CHECK_EQ((const char *)svg_number(0).text, "0");
    CHECK_EQ((const char *)svg_number(0.25).text, "0.25");
    CHECK_EQ((const char *)svg_number(9999).text, "9999");
    CHECK_EQ((const char *)svg_number(12000).text, "12k");
    CHECK_EQ((const char *)svg_number(3.5e6).text, "3.5M");
    CHECK_EQ((const char *)svg_number(1 / 0.0).text, "-");
}

TEST("text and titles are escaped") {
    struct error err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = text_open(&text, &size, &err);
    REQUIRE(out);
    svg_text(out, 1, 2, "", "end", "a<b & \"c\"");
    svg_rect(out, 0, 0, 1, 1, "c0", 0.5, "%s", "<x>");
    REQUIRE(text_close(out, &text, &err));
    CHECK_TEXT(text, ">a&lt;b &amp; &quot;c&quot;</text>");
    CHECK_TEXT(text, "<title>&lt;x&gt;</title>");
    CHECK_TEXT(text, "fill-opacity=\"0.500\"");
    free(text);
}
