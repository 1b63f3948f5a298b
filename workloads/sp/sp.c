/* Survey propagation on a random 3-SAT formula with 4.2 clauses per variable, the hard region. */
#include "work.h"

WORK_PTX(sp, "sp/sp.ptx");

enum { LITERALS = 3, CTAS = 480, THREADS = 256 };

/* The edges of each of `nodes`: those of node n are edges_of[first[n]] to edges_of[first[n + 1] - 1]. */
struct index {
    uint64_t first, edges_of;
    int32_t *host_first, *host_edges_of;
};

static struct index index_new(struct work *work, const int32_t *node_of, int64_t edges, int64_t nodes) {
    struct index x;
    x.host_first = WORK_NEW(work, int32_t, nodes + 1, &x.first);
    x.host_edges_of = WORK_NEW(work, int32_t, edges, &x.edges_of);
    for (int64_t e = 0; e < edges; e++) x.host_first[node_of[e] + 1]++;
    for (int64_t n = 0; n < nodes; n++) x.host_first[n + 1] += x.host_first[n];
    int32_t *next = work_copy(x.host_first, (uint64_t)nodes * sizeof *next);
    for (int64_t e = 0; e < edges; e++) x.host_edges_of[next[node_of[e]]++] = (int32_t)e;
    free(next);
    return x;
}

struct formula {
    int64_t edges;
    struct index variables, clauses;
    int32_t *variable, *clause, *negated;
};

struct surveys {
    float *zero, *same, *opposite, *eta;
};

/* As in the kernels, in the same order: the kernels have no fused operations, so results are equal to the last bit or
 * nearly. */
static void reference_pi(const struct formula *f, struct surveys *s) {
    for (int64_t e = 0; e < f->edges; e++) {
        float product[2] = {1, 1}; /* over edges of the same sign and of the opposite sign */
        const int32_t *range = &f->variables.host_first[f->variable[e]];
        for (int32_t i = range[0]; i < range[1]; i++) {
            int32_t other = f->variables.host_edges_of[i];
            if (f->clause[other] != f->clause[e]) product[f->negated[other] != f->negated[e]] *= 1 - s->eta[other];
        }
        s->zero[e] = product[0] * product[1];
        s->same[e] = (1 - product[0]) * product[1];
        s->opposite[e] = (1 - product[1]) * product[0];
    }
}

static void reference_eta(const struct formula *f, struct surveys *s) {
    for (int64_t e = 0; e < f->edges; e++) {
        float product = 1;
        const int32_t *range = &f->clauses.host_first[f->clause[e]];
        for (int32_t i = range[0]; i < range[1]; i++) {
            int32_t k = f->clauses.host_edges_of[i];
            float sum = s->zero[k] + s->same[k] + s->opposite[k];
            if (k != e) product *= sum > 0 ? s->opposite[k] / sum : 0;
        }
        s->eta[e] = product;
    }
}

/* From the initial surveys, for any number of rounds, independent of the device's results. */
static void verify(struct work *work, const struct formula *f, const struct surveys *found, const float *first,
                   int64_t rounds) {
    uint64_t bytes = (uint64_t)f->edges * sizeof(float);
    struct surveys s = {work_copy(first, bytes), work_copy(first, bytes), work_copy(first, bytes),
                        work_copy(first, bytes)};
    for (int64_t i = 0; i < rounds; i++) {
        reference_pi(f, &s);
        reference_eta(f, &s);
    }
    work_expect_f32(work, "pi_same", found->same, s.same, (uint64_t)f->edges, 1e-5, 1e-6);
    work_expect_f32(work, "eta", found->eta, s.eta, (uint64_t)f->edges, 1e-5, 1e-6);
    free(s.zero);
    free(s.same);
    free(s.opposite);
    free(s.eta);
}

static void run(struct work *work) {
    int64_t clauses = work->size[0], rounds = work->size[1], shuffled = work->size[2], variables = clauses * 5 / 21;
    struct formula f = {.edges = clauses * LITERALS};
    struct surveys s;
    uint64_t variable, clause, negated, zero, same, opposite, eta;
    f.clause = WORK_NEW(work, int32_t, f.edges, &clause);
    f.variable = WORK_NEW(work, int32_t, f.edges, &variable);
    f.negated = WORK_NEW(work, int32_t, f.edges, &negated);
    s.eta = WORK_NEW(work, float, f.edges, &eta);
    s.zero = WORK_NEW(work, float, f.edges, &zero);
    s.same = WORK_NEW(work, float, f.edges, &same);
    s.opposite = WORK_NEW(work, float, f.edges, &opposite);
    for (int64_t e = 0; e < f.edges; e++) f.clause[e] = (int32_t)(e / LITERALS);
    for (int64_t e = f.edges - 1; shuffled && e > 0; e--) {
        int64_t other = work_below(work, (uint32_t)e + 1);
        int32_t c = f.clause[e];
        f.clause[e] = f.clause[other], f.clause[other] = c;
    }
    for (int64_t e = 0; e < f.edges; e++) {
        f.variable[e] = (int32_t)work_below(work, (uint32_t)variables);
        f.negated[e] = (int32_t)work_below(work, 2);
    }
    f.clauses = index_new(work, f.clause, f.edges, clauses);
    f.variables = index_new(work, f.variable, f.edges, variables);
    work_fill(work, s.eta, (uint64_t)f.edges, 0, 1);
    float *first = work_copy(s.eta, (uint64_t)f.edges * sizeof *first);
    uint32_t ctas = blocks_of(f.edges, THREADS) < CTAS ? blocks_of(f.edges, THREADS) : CTAS;
    for (int64_t i = 0; i < rounds; i++) {
        WORK_LAUNCH(work, "sp_pi", DIM(ctas), DIM(THREADS), HOST_U64(f.variables.first), HOST_U64(f.variables.edges_of),
                    HOST_U64(clause), HOST_U64(variable), HOST_U64(negated), HOST_U64(eta), HOST_U64(zero),
                    HOST_U64(same), HOST_U64(opposite), HOST_S32((int32_t)f.edges));
        WORK_LAUNCH(work, "sp_eta", DIM(ctas), DIM(THREADS), HOST_U64(f.clauses.first), HOST_U64(f.clauses.edges_of),
                    HOST_U64(clause), HOST_U64(zero), HOST_U64(same), HOST_U64(opposite), HOST_U64(eta),
                    HOST_S32((int32_t)f.edges));
    }
    if (work->verify) verify(work, &f, &s, first, rounds);
    free(first);
}

static const struct work_size sizes[] = {
    {"tiny", {700, 2, 1}},
    {"small", {21000, 1, 1}},
    {"adaptive", {291000, 1, 0}},
    {"selrep", {168000, 1, 1}},
};

WORKLOAD(sp, "sp", .help = "survey propagation on random 3-SAT", .parameters = "clauses rounds shuffled");
