/* The page as text: every figure and value is in it, nothing breaks out of its place, nothing is fetched. How it looks
 * and behaves is for browser_test.sh. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "report/figures.h"
#include "test.h"

/* The page without a chart library, whose text would only be in the way. */
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

TEST("the page holds every figure with its finding, and one document only") {
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

TEST("a figure of a paper has the paper's title") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "\"paper\": \"Adaptive Memory-Side Last-Level GPU Caching\"");
    free(page);
}

TEST("a missing run is null in the page, never zero") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "[1, null, 1.01]");
    CHECK_TEXT(page, "\"ours\": null, \"verdict\": \"missing\"");
    free(page);
}

TEST("the page tells what a search chose") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "{\"workload\": \"an\", \"column\": \"private\", \"parameter\": \"llc.static.degree\","
                     " \"chosen\": \"16, 1\"}");
    CHECK_EQ(times(page, "missing: </td>"), 0);
    free(page);
}

TEST("the paper's value stands beside ours with a verdict and the cell that it belongs to") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page,
               "\"said\": \"28.1\", \"ours\": 29, \"verdict\": \"agrees\", \"sheet\": 0, \"row\": 6, \"column\": 2,"
               " \"mark\": 1.281");
    free(page);
}

TEST("no text of an experiment can end the script that it is carried in") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_TEXT(page, "A table \\u003c/script>\\u003cb>\\\"&");
    CHECK_EQ(times(page, "</script>"), 4);
    free(page);
}

TEST("the page asks the network for nothing") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_EQ(times(page, "http://") + times(page, "https://"), 0);
    CHECK_EQ(times(page, "src="), 0);
    free(page);
}

TEST("the chart library is carried as it is, and one that cannot be read is told") {
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

TEST("a sweep's axis has the name of what is swept") {
    struct error err = {0};
    char *page = page_text(NULL, &err);
    CHECK_EQ(times(page, "\"axis\": \"noc.channel_bytes\""), 1);
    free(page);
}

TEST("a page without memory for its data is an error") {
    struct report report = made_report();
    struct error err = {0};
    FILE *out = fopen("/dev/null", "w");
    REQUIRE(out);
    no_memory_for_files = true;
    CHECK(!report_page(&report, out, &err));
    CHECK_TEXT(err.text, "Cannot allocate memory");
    fclose(out);
}
