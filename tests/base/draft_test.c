/* Temporary files that a process removes before it ends early. */
#include "base/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "test.h"

static void create(char *path) {
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    close(file);
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

TEST("removes the listed files, and a listed directory after the files in it") {
    char kept[] = "/tmp/sluice-draft-XXXXXX", folder[] = "/tmp/sluice-draft-XXXXXX";
    struct draft drafts[3];
    draft_list(&drafts[0], kept);
    create(kept);
    draft_list(&drafts[1], folder);
    REQUIRE(mkdtemp(folder));
    char *inner = text_format("%s/XXXXXX", folder);
    draft_list(&drafts[2], inner);
    create(inner);
    draft_unlist(&drafts[0]);
    drafts_remove();
    CHECK(!exists(inner));
    CHECK(!exists(folder));
    CHECK(exists(kept));
    unlink(kept);
    free(inner);
}

TEST("a draft can be unlisted from any place in the list") {
    char path[3][32];
    struct draft drafts[3];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "/tmp/sluice-draft-XXXXXX");
        draft_list(&drafts[i], path[i]);
        create(path[i]);
    }
    draft_unlist(&drafts[1]);
    draft_unlist(&drafts[1]); /* no effect */
    draft_unlist(&drafts[2]);
    drafts_remove();
    CHECK(!exists(path[0]));
    CHECK(exists(path[1]));
    CHECK(exists(path[2]));
    unlink(path[1]);
    unlink(path[2]);
}

TEST("a fork does not remove the files of its parent") {
    char path[] = "/tmp/sluice-draft-XXXXXX";
    struct draft draft;
    draft_list(&draft, path);
    create(path);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        drafts_remove();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    CHECK(exists(path));
    drafts_remove();
    CHECK(!exists(path));
}

static void end_with_3(void) { _exit(3); }

TEST("exhausted memory calls the handler of the process") {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        mem_on_exhaustion(end_with_3);
        mem_alloc_lines(SIZE_MAX, SIZE_MAX);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}
