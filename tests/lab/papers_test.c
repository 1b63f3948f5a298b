/* Published values. */
#include "lab/papers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "test.h"

TEST("every published value has a unique id") {
    struct error err = {0};
    struct papers *papers = papers_open(&err);
    REQUIRE(papers);
    CHECK(papers->count >= 500);
    unsigned repeated = 0, numbers = 0;
    for (unsigned i = 0; i < papers->count; i++) {
        repeated += papers_find(papers, papers->results[i].id) != &papers->results[i];
        numbers += !isnan(paper_number(&papers->results[i]));
    }
    CHECK_EQ(repeated, 0u);
    CHECK(numbers >= 400);
    CHECK(!papers_find(papers, "adaptive-999"));
    papers_close(papers);
}

TEST("published measurements have the id of their GPU and name") {
    struct error err = {0};
    struct papers *papers = papers_open(&err);
    REQUIRE(papers);
    const struct paper_result *result = papers_find(papers, "v100 L1 latency");
    REQUIRE(result);
    CHECK_EQ(paper_number(result), 28.0);
    CHECK_EQ(result->unit, "cycles");
    CHECK_EQ(result->scheme, "v100");
    CHECK_TEXT(result->where, "Jia et al. 2018");
    papers_close(papers);
}

TEST("a quoted field keeps its commas, and a qualitative value is not a number") {
    struct error err = {0};
    struct papers *papers = papers_open(&err);
    REQUIRE(papers);
    const struct paper_result *headline = papers_find(papers, "adaptive-001"),
                              *words = papers_find(papers, "adaptive-031");
    REQUIRE(headline && words);
    CHECK_EQ(headline->paper, "adaptive");
    CHECK_EQ(headline->workloads, "private-friendly (AN,RN,SN,NN,MM)");
    CHECK_EQ(headline->metric, "IPC improvement, average");
    CHECK_EQ(headline->unit, "%");
    CHECK_EQ(paper_number(headline), 28.1);
    CHECK_EQ(words->value, ">60");
    CHECK(isnan(paper_number(words)));
    papers_close(papers);
}

TEST("reads short names and titles in the order of the file") {
    struct error err = {0};
    struct papers *papers = papers_open(&err);
    REQUIRE(papers && papers->paper_count == 4);
    static const char *const names[] = {"adaptive", "icc", "selrep", "bypass"};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(papers->papers[i].name, names[i]);
        CHECK_EQ(papers_index(papers, names[i]), i);
    }
    CHECK_EQ(papers->papers[3].title, "Locality-Driven Dynamic GPU Cache Bypassing (ICS 2015)");
    CHECK_EQ(papers_index(papers, "s000"), -1);
    papers_close(papers);
}

/* Reads papers from a directory with these files; returns the error. */
static struct error read_files(const char *titles, const char *results, const char *measurements) {
    const char *const content[] = {titles, results, measurements};
    static const char *const names[] = {"data", "data/papers", "data/reference", "data/reference/microbench"},
                             *const files[] = {"data/papers/papers.yaml", "data/papers/results.csv",
                                               "data/reference/microbench/measurements.csv"};
    char home[] = "/tmp/sluice-papers-XXXXXX";
    struct error err = {0};
    REQUIRE(mkdtemp(home));
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        char *folder = text_format("%s/%s", home, names[i]);
        REQUIRE(mkdir(folder, 0777) == 0);
        free(folder);
    }
    for (unsigned i = 0; i < COUNT_OF(files); i++) {
        char *path = text_format("%s/%s", home, files[i]);
        FILE *file = fopen(path, "w");
        REQUIRE(file);
        fputs(content[i], file);
        fclose(file);
        free(path);
    }
    setenv("SLUICE_HOME", home, 1);
    papers_close(papers_open(&err));
    char *command = text_format("rm -r '%s'", home);
    CHECK_EQ(system(command), 0);
    free(command);
    return err;
}

#define MEASURED "gpu,measurement,value,unit,source\n"
#define HEAD     "id,paper,where,workloads,metric,scheme,baseline,value,unit,note\n"

TEST("rejects invalid files with the location") {
    static const struct {
        const char *titles, *results, *why;
    } cases[] = {
        {"a: {title: A}\n", HEAD "1,a,,,,,,,,\n", ""},
        {"- a\n", HEAD, "papers.yaml:1:1: expected papers by short name"},
        {"", HEAD, "papers.yaml:1:1: expected papers"},
        {"a: {title: A}\na: {title: B}\n", HEAD, "papers.yaml:2:1: duplicate paper 'a'"},
        {"a: {}\n", HEAD, "papers.yaml:1:1: paper 'a' has no title"},
        {"a: {titel: A}\n", HEAD, "papers.yaml:1:5: unknown key 'titel' of a paper; did you mean 'title'?"},
        {"a: A\n", HEAD, "papers.yaml:1:4: a paper must be a mapping of its keys"},
        {"a: {title: A}\n", "id,paper\n", "results.csv:1:1: this row has 2 of 10 columns"},
        {"a: {title: A}\n", HEAD "1,a,,,,,,,,,\n", "results.csv:2:1: this row has more than 10 columns"},
        {"a: {title: A}\n", HEAD "1,a,,,,,,,,\n2,b,,,,,,,,\n", "results.csv:3:1: unknown paper 'b'"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = read_files(cases[i].titles, cases[i].results, MEASURED);
        CHECK_TEXT(err.text, cases[i].why);
        CHECK_EQ(err.set, *cases[i].why != '\0');
    }
}

TEST("rejects invalid measurements with the location") {
    static const struct {
        const char *measurements, *why;
    } cases[] = {
        {MEASURED "g,a,1,cycles,s\ng,b,2,cycles,s\n", ""},
        {MEASURED "g,a,1,cycles,s\ng,a,2,cycles,s\n", "measurements.csv:3:1: duplicate measurement 'g a'"},
        {MEASURED "g,a,1\n", "measurements.csv:2:1: this row has 3 of 5 columns"},
        {"gpu,name,value,unit,source\n", "measurements.csv:1:1: column 2 is 'name', expected 'measurement'"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct error err = read_files("a: {title: A}\n", HEAD, cases[i].measurements);
        CHECK_TEXT(err.text, cases[i].why);
        CHECK_EQ(err.set, *cases[i].why != '\0');
    }
}
