/* The text of the report: figures and values, escaping, no external resources. browser_test.sh tests its behaviour. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "report/figures.h"
#include "test.h"

/* The report, by default without the text of a chart library. */
static char *page_text(const char *chart_library, struct error *err) {
    struct report report = made_report();
    report.plots = "made.figures";
    report.chart_library = chart_library;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool good = report_page(&report, out, err);
    fclose(out);
    CHECK_EQ(good, !err->set);
    return text;
}

static unsigned times(const char *text, const char *part) {
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

TEST("the report has every figure with its finding, in one document") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    for (unsigned i = 0; i < MADE_FIGURES; i++) {
        char *name = text_format("\"name\": \"%s\"", made_experiments[i].name);
        CHECK_TEXT(page, name);
        CHECK_TEXT(page, made_figures[i].finding);
        free(name);
    }
    CHECK_EQ(times(page, "<!doctype html>"), 1);
    CHECK_EQ(times(page, "</html>"), 1);
    CHECK_EQ(times(page, "{{"), 0);
    free(page);
}

TEST("a figure of a paper has the title of the paper") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "\"paper\": \"Adaptive Memory-Side Last-Level GPU Caching\"");
    free(page);
}

TEST("a missing run is null, not zero") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "[1, null, 1.01]");
    CHECK_TEXT(page, "\"ours\": null, \"low\": null, \"high\": null, \"verdict\": \"missing\"");
    free(page);
}

TEST("the report has the result of a search") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "{\"workload\": \"an\", \"column\": \"private\", \"parameter\": \"llc.static.degree\","
                     " \"chosen\": \"16, 1\"}");
    CHECK_EQ(times(page, "missing: </td>"), 0);
    free(page);
}

TEST("a published value has the simulated value, a verdict and its cell") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page,
               "\"said\": \"28.1\", \"ours\": 29, \"low\": 27.9, \"high\": 30.2, \"verdict\": \"agrees\", \"sheet\": 0,"
               " \"row\": 6, \"column\": 2,"
               " \"mark\": 1.281, \"error\": null");
    free(page);
}

TEST("a published quantity has an error in per cent") {
    struct error err = {0};
    struct figure_paper before = made_papers[0];
    made_papers[0].neutral = NAN;
    made_papers[0].ours = 2 * made_papers[0].paper;
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "\"mark\": 1.281, \"error\": 100}");
    made_papers[0] = before;
    free(page);
}

TEST("values of several seeds have their range, others none") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_EQ(times(page, "\"low\": [\n"), 1); /* one sheet, in one figure */
    CHECK_TEXT(page, "\"high\": [\n");
    CHECK_TEXT(page, "[1, 1.31, 1.274],");                            /* 1.30, 2 % below */
    CHECK_TEXT(page, "\"ours\": -24, \"low\": null, \"high\": null"); /* a published value without seeds */
    free(page);
}

TEST("no text of an experiment can end the script element") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "A table \\u003c/script>\\u003cb>\\\"&");
    CHECK_EQ(times(page, "</script>"), 4);
    free(page);
}

TEST("the report has no external resources") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_EQ(times(page, "http://") + times(page, "https://"), 0);
    CHECK_EQ(times(page, "src="), 0);
    free(page);
}

TEST("embeds the chart library unchanged, and reports an unreadable one") {
    struct error err = {0};
    char path[] = "/tmp/sluice-charts-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    REQUIRE(file != NULL);
    fputs("const Chart = \"<a & b>\";", file);
    fclose(file);
    char *page = page_text(path, &err);
    CHECK_TEXT(page, "const Chart = \"<a & b>\";");
    free(page);
    remove(path);
    free(page_text(path, &err));
    CHECK(err.set);
    CHECK_TEXT(err.text, path);
}

TEST("the axis of a sweep has the name of the parameter") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_EQ(times(page, "\"axis\": \"noc.channel_bytes\""), 1);
    free(page);
}

TEST("a report without memory for its data is an error") {
    struct report report = made_report();
    struct error err = {0};
    FILE *out = fopen("/dev/null", "w");
    REQUIRE(out);
    no_memory_for_files = true;
    CHECK(!report_page(&report, out, &err));
    CHECK_TEXT(err.text, "Cannot allocate memory");
    fclose(out);
}
