#include "gpu/lookahead.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool fail(struct error *err, const char *what) {
    return error_set(err, "lookahead failed: %s: %s", what, strerror(errno));
}

/* Reads the score of a trial; false if it exited without one. */
static bool receive(int report, double *score) {
    size_t have = 0;
    while (have < sizeof *score) {
        ssize_t got = read(report, (char *)score + have, sizeof *score - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        have += (size_t)got;
    }
    return true;
}

static void await(pid_t trial) {
    while (waitpid(trial, NULL, 0) < 0 && errno == EINTR) {
    }
}

bool lookahead_choose(struct lookahead *lookahead, unsigned choices, unsigned *choice, struct error *err) {
    double best = 0;
    for (unsigned i = 0; i < choices; i++) {
        int ends[2];
        if (pipe(ends) != 0) return fail(err, "cannot create a pipe");
        pid_t trial = fork();
        if (trial < 0) {
            close(ends[0]);
            close(ends[1]);
            return fail(err, "cannot create a process");
        }
        if (trial == 0) {
            close(ends[0]);
            lookahead->report = ends[1] + 1;
            *choice = i;
            return true;
        }
        close(ends[1]);
        double score;
        bool received = receive(ends[0], &score);
        close(ends[0]);
        await(trial);
        if (!received) return error_set(err, "lookahead failed: trial %u of %u ended without a result", i + 1, choices);
        if (i > 0 && score <= best) continue;
        best = score;
        *choice = i;
    }
    return true;
}

void lookahead_report(const struct lookahead *lookahead, double score) {
    bool sent = write(lookahead->report - 1, &score, sizeof score) == sizeof score;
    _exit(sent ? 0 : 1);
}
