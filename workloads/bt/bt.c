/* Point and range searches in a B+ tree. Nodes are half full, as after insertion in ascending order. */
#include "work.h"

WORK_PTX(bt, "bt/bt.ptx");

enum { ORDER = 256, FILL = ORDER / 2, LEVELS = 8, RANGE = 3000 };

struct node {
    int32_t location, leaf, keys_used, pad;
    int32_t index[ORDER + 1], key[ORDER + 1];
};

struct tree {
    uint64_t nodes, records;
    struct node *host_nodes;
    int32_t *host_records;
    int32_t height, node_count; /* height: steps from the root to a leaf */
};

/* The i-th key; odd numbers are not in the tree. */
static int32_t key_of(int64_t i) { return (int32_t)(2 * i); }

/* A level of the tree, starting at node `first`: node i has up to FILL of the `count` children, which are records or
 * the nodes from `below` on, each covering `span` keys. */
static void fill_level(struct node *nodes, int32_t first, int64_t count, int32_t below, int64_t span, bool leaf) {
    for (int64_t done = 0; done < count; done += FILL) {
        struct node *node = &nodes[first + done / FILL];
        int64_t used = count - done < FILL ? count - done : FILL;
        *node = (struct node){.location = (int32_t)(node - nodes), .leaf = leaf, .keys_used = (int32_t)used};
        for (int64_t k = 0; k <= ORDER; k++) {
            node->key[k] = k < used ? key_of((done + k) * span) : INT32_MAX;
            node->index[k] = k < used ? below + (int32_t)(done + k) : 0;
        }
    }
}

/* Nodes in level order, the root first. */
static struct tree plant(struct work *work, int64_t keys) {
    struct tree tree = {0};
    int64_t width[LEVELS] = {blocks_of(keys, FILL)};
    tree.node_count = (int32_t)width[0];
    for (; width[tree.height] > 1; tree.node_count += (int32_t)width[tree.height])
        width[tree.height + 1] = blocks_of(width[tree.height], FILL), tree.height++;
    tree.host_nodes = WORK_NEW(work, struct node, tree.node_count, &tree.nodes);
    tree.host_records = WORK_NEW(work, int32_t, keys, &tree.records);
    for (int64_t i = 0; i < keys; i++) tree.host_records[i] = (int32_t)work_below(work, 1u << 30);
    int32_t first = tree.node_count - (int32_t)width[0], below = 0;
    int64_t count = keys, span = 1;
    for (int level = 0; level <= tree.height; level++) {
        fill_level(tree.host_nodes, first, count, below, span, level == 0);
        count = width[level], span *= FILL, below = first;
        if (level < tree.height) first -= (int32_t)width[level + 1];
    }
    return tree;
}

/* One query in sixteen is for a missing key; its answer is unchanged. */
static void find_points(struct work *work, const struct tree *tree, int64_t keys, int64_t queries) {
    uint64_t current, offset, wanted, answers;
    WORK_NEW(work, int32_t, queries, &current);
    WORK_NEW(work, int32_t, queries, &offset);
    int32_t *host_wanted = WORK_NEW(work, int32_t, queries, &wanted),
            *host_answers = WORK_NEW(work, int32_t, queries, &answers);
    for (int64_t i = 0; i < queries; i++) {
        int32_t key = key_of(work_below(work, (uint32_t)keys));
        host_wanted[i] = key + (work_below(work, 16) == 0);
        host_answers[i] = -1;
    }
    WORK_LAUNCH(work, "bt_find", DIM((uint32_t)queries), DIM(ORDER), HOST_S32(tree->height), HOST_U64(tree->nodes),
                HOST_U64(tree->records), HOST_U64(current), HOST_U64(offset), HOST_U64(wanted), HOST_U64(answers));
    for (int64_t i = 0; work->verify && i < queries; i++) {
        int32_t expected = host_wanted[i] % 2 ? -1 : tree->host_records[host_wanted[i] / 2];
        work_expect_i32(work, "answer", &host_answers[i], &expected, 1);
    }
}

static void find_ranges(struct work *work, const struct tree *tree, int64_t keys, int64_t queries) {
    enum { CURRENT, OFFSET, LAST_CURRENT, LAST_OFFSET, FIRST, LAST, START, LENGTH, ARRAYS };
    uint64_t at[ARRAYS];
    int32_t *host[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) host[i] = WORK_NEW(work, int32_t, queries, &at[i]);
    int64_t range = keys < RANGE ? keys / 2 : RANGE;
    for (int64_t i = 0; i < queries; i++) {
        int64_t first = work_below(work, (uint32_t)(keys - range));
        host[FIRST][i] = key_of(first);
        host[LAST][i] = key_of(first + work_below(work, (uint32_t)range));
    }
    WORK_LAUNCH(work, "bt_find_range", DIM((uint32_t)queries), DIM(ORDER), HOST_S32(tree->height),
                HOST_U64(tree->nodes), HOST_U64(at[CURRENT]), HOST_U64(at[OFFSET]), HOST_U64(at[LAST_CURRENT]),
                HOST_U64(at[LAST_OFFSET]), HOST_U64(at[FIRST]), HOST_U64(at[LAST]), HOST_U64(at[START]),
                HOST_U64(at[LENGTH]));
    for (int64_t i = 0; work->verify && i < queries; i++) {
        int32_t start = host[FIRST][i] / 2, length = host[LAST][i] / 2 - start + 1;
        work_expect_i32(work, "start", &host[START][i], &start, 1);
        work_expect_i32(work, "length", &host[LENGTH][i], &length, 1);
    }
}

static void run(struct work *work) {
    int64_t keys = work->size[0], ranges = work->size[1], points = work->size[2];
    struct tree tree = plant(work, keys);
    if (ranges) find_ranges(work, &tree, keys, ranges);
    if (points) find_points(work, &tree, keys, points);
}

static const struct work_size sizes[] = {
    {"tiny", {100000, 50, 50}},      {"small", {1000000, 0, 30000}},     {"adaptive", {1000000, 0, 55000}},
    {"selrep", {1000000, 0, 55000}}, {"bypass", {1000000, 6000, 10000}},
};

WORKLOAD(bt, "bt", .help = "point and range searches in a B+ tree of order 256", .parameters = "keys ranges points");
