/* The papers' values. */
#include "lab/papers.h"

#include <math.h>
#include <string.h>

#include "test.h"

TEST("every value of a paper has an id of its own and can be found by it") {
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

TEST("a row keeps its commas, and a value in words is no number") {
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
