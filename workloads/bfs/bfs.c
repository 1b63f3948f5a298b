/* Breadth-first search: two launches per level, until no node is reached. */
#include "work.h"

WORK_PTX(bfs, "bfs/bfs.ptx");

enum { THREADS = 512, EDGES_LEAST = 2, EDGES_MOST = 4 };

struct node {
    int32_t first, edges;
};

/* Each node has undirected edges to two to four random others. The ends of edge k are elements 2k and 2k + 1; the
 * caller frees them. */
static int32_t *make_ties(struct work *work, struct node *nodes, int32_t count, int64_t *directed) {
    int32_t *ties = mem_alloc((size_t)count * EDGES_MOST * 2, sizeof *ties);
    *directed = 0;
    for (int32_t i = 0; i < count; i++)
        for (uint32_t k = EDGES_LEAST + work_below(work, EDGES_MOST - EDGES_LEAST + 1); k > 0; k--) {
            int32_t to = (int32_t)work_below(work, (uint32_t)count);
            ties[(*directed)++] = i;
            ties[(*directed)++] = to;
            nodes[i].edges++;
            nodes[to].edges++;
        }
    for (int32_t i = 1; i < count; i++) nodes[i].first = nodes[i - 1].first + nodes[i - 1].edges;
    return ties;
}

static void place_edges(const int32_t *ties, int64_t directed, const struct node *nodes, int32_t count,
                        int32_t *edges) {
    int32_t *next = mem_alloc((size_t)count, sizeof *next);
    for (int32_t i = 0; i < count; i++) next[i] = nodes[i].first;
    for (int64_t e = 0; e < directed; e++) edges[next[ties[e]]++] = ties[e ^ 1];
    free(next);
}

/* Reference: queue-based, node by node. */
static void reference(const struct node *nodes, const int32_t *edges, int32_t *cost, int32_t count) {
    int32_t *queue = mem_alloc((size_t)count, sizeof *queue), head = 0, tail = 0;
    for (int32_t i = 0; i < count; i++) cost[i] = -1;
    cost[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        int32_t from = queue[head++];
        for (int32_t e = nodes[from].first; e < nodes[from].first + nodes[from].edges; e++)
            if (cost[edges[e]] < 0) {
                cost[edges[e]] = cost[from] + 1;
                queue[tail++] = edges[e];
            }
    }
    free(queue);
}

static void run(struct work *work) {
    int32_t count = (int32_t)work->size[0];
    int64_t directed;
    uint64_t nodes, edges, frontier, marked, visited, cost, again;
    struct node *hnodes = WORK_NEW(work, struct node, count, &nodes);
    int32_t *ties = make_ties(work, hnodes, count, &directed);
    int32_t *hedges = WORK_NEW(work, int32_t, directed, &edges);
    place_edges(ties, directed, hnodes, count, hedges);
    free(ties);
    uint8_t *hfrontier = WORK_NEW(work, uint8_t, count, &frontier);
    marked = work_alloc(work, (uint64_t)count);
    uint8_t *hvisited = WORK_NEW(work, uint8_t, count, &visited);
    int32_t *hcost = WORK_NEW(work, int32_t, count, &cost);
    uint8_t *hagain = WORK_NEW(work, uint8_t, 1, &again);
    hfrontier[0] = hvisited[0] = 1;
    for (int32_t i = 1; i < count; i++) hcost[i] = -1;
    do {
        *hagain = 0;
        WORK_LAUNCH(work, "bfs_expand", DIM(blocks_of(count, THREADS)), DIM(THREADS), HOST_U64(nodes), HOST_U64(edges),
                    HOST_U64(frontier), HOST_U64(marked), HOST_U64(visited), HOST_U64(cost), HOST_S32(count));
        WORK_LAUNCH(work, "bfs_advance", DIM(blocks_of(count, THREADS)), DIM(THREADS), HOST_U64(frontier),
                    HOST_U64(marked), HOST_U64(visited), HOST_U64(again), HOST_S32(count));
    } while (*hagain && !host_failed(work->host));
    if (!work->verify) return;
    int32_t *expected = mem_alloc((size_t)count, sizeof *expected);
    reference(hnodes, hedges, expected, count);
    work_expect_i32(work, "cost", hcost, expected, (uint64_t)count);
    free(expected);
}

static const struct work_size sizes[] = {
    {"tiny", {2048}},
    {"small", {131072}},
    {"icc", {1000000}},
};

WORKLOAD(bfs, "bfs", .help = "breadth-first search, level by level", .parameters = "nodes");
