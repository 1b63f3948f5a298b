/* Single-source shortest paths: all nodes relax their edges until a round changes nothing. */
#include "work.h"

WORK_PTX(sssp, "sssp/sssp.ptx");

enum { THREADS = 256, FAR = 0x3fffffff, WEIGHT_MOST = 100 };

struct graph {
    int32_t nodes, edges;
    int32_t *first, *target, *weight;
};

/* A recursive-matrix edge: each of `bits` steps selects a quarter of the remaining adjacency matrix, with the odds
 * 45 : 22 : 22 : 11 of the Lonestar suite's graphs. */
static void draw_edge(struct work *work, unsigned bits, int32_t *from, int32_t *to) {
    *from = *to = 0;
    for (unsigned b = 0; b < bits; b++) {
        uint32_t odds = work_below(work, 100);
        *from = *from * 2 + (odds >= 67);
        *to = *to * 2 + ((odds >= 45 && odds < 67) || odds >= 89);
    }
}

/* Rows in order; within a row the edges in order of generation. */
static void make_graph(struct work *work, struct graph *graph, unsigned bits) {
    int32_t *from = mem_alloc((size_t)graph->edges, sizeof *from), *to = mem_alloc((size_t)graph->edges, sizeof *to),
            *next = mem_alloc((size_t)graph->nodes, sizeof *next);
    for (int32_t e = 0; e < graph->edges; e++) {
        draw_edge(work, bits, &from[e], &to[e]);
        graph->first[from[e] + 1]++;
    }
    for (int32_t i = 0; i < graph->nodes; i++) graph->first[i + 1] += next[i] = graph->first[i];
    for (int32_t e = 0; e < graph->edges; e++) {
        int32_t at = next[from[e]]++;
        graph->target[at] = to[e];
        graph->weight[at] = 1 + (int32_t)work_below(work, WEIGHT_MOST);
    }
    free(from);
    free(to);
    free(next);
}

/* Distances are correct if no edge shortens one, and each except the source's is attained by an edge: weights are
 * positive, so such edges lead back to the source. Unreachable nodes stay FAR. */
static void verify(struct work *work, const struct graph *graph, const int32_t *distance, int32_t source) {
    uint8_t *reached = mem_alloc((size_t)graph->nodes, 1);
    reached[source] = 1;
    bool shorter = false;
    for (int32_t i = 0; i < graph->nodes; i++)
        for (int32_t e = graph->first[i]; e < graph->first[i + 1] && distance[i] < FAR; e++) {
            int32_t through = distance[i] + graph->weight[e], to = graph->target[e];
            shorter |= through < distance[to];
            reached[to] |= through == distance[to];
        }
    work_expect(work, distance[source] == 0, "the source is not at distance 0");
    work_expect(work, !shorter, "an edge shortens a path");
    for (int32_t i = 0; i < graph->nodes; i++)
        work_expect(work, reached[i] == (distance[i] < FAR), "a distance is not that of a path");
    free(reached);
}

static void run(struct work *work) {
    unsigned bits = (unsigned)work->size[0];
    struct graph graph = {.nodes = 1 << bits, .edges = (int32_t)(work->size[1] << bits)};
    uint64_t first, target, weight, distance, changed;
    graph.first = WORK_NEW(work, int32_t, graph.nodes + 1, &first);
    graph.target = WORK_NEW(work, int32_t, graph.edges, &target);
    graph.weight = WORK_NEW(work, int32_t, graph.edges, &weight);
    int32_t *hdistance = WORK_NEW(work, int32_t, graph.nodes, &distance);
    int32_t *hchanged = WORK_NEW(work, int32_t, 1, &changed);
    make_graph(work, &graph, bits);
    struct dim grid = DIM(blocks_of(graph.nodes, THREADS));
    WORK_LAUNCH(work, "sssp_initialise", grid, DIM(THREADS), HOST_U64(distance), HOST_S32(graph.nodes), HOST_S32(0));
    do {
        *hchanged = 0;
        WORK_LAUNCH(work, "sssp_relax", grid, DIM(THREADS), HOST_U64(first), HOST_U64(target), HOST_U64(weight),
                    HOST_U64(distance), HOST_U64(changed), HOST_S32(graph.nodes));
    } while (*hchanged && !host_failed(work->host));
    if (work->verify) verify(work, &graph, hdistance, 0);
}

static const struct work_size sizes[] = {
    {"tiny", {9, 8}},
    {"small", {14, 8}},
    {"bypass", {17, 8}},
};

WORKLOAD(sssp, "sssp", .help = "single-source shortest paths by relaxing all edges", .parameters = "node_bits degree");
