/* A model of MRPB's request reordering, written from its description ("MRPB: Memory Request Prioritization for Massively
 * Parallel Processors", HPCA 2014; l1/mrpb.c): FIFOs selected by a signature, a drain rule that selects the FIFO to
 * serve, one request in and one out per cycle. It runs next to the stage on random accesses that bypass the L1, so that
 * each shows at the network, and the order is compared request by request. */
#include "test.h"

#include <string.h>

#include "base/random.h"
#include "l1/l1_fixture.h"

enum { QUEUES = 5, ENTRIES = 3 };

struct queued {
    uint64_t line;
    bool store;
    uint8_t program, name;
};

struct mrpb_model {
    char drain; /* `g`reedy, `f`ixed, `r`ound robin, `l`ongest */
    unsigned count[QUEUES], served;
    struct queued queue[QUEUES][ENTRIES];
    uint64_t joined;
};

/* A request enters the FIFO of its signature or, if it must not overtake requests of another one, that FIFO. Returns
 * false if there is no space, or if requests of several FIFOs must precede it. */
static bool model_enter(struct mrpb_model *model, unsigned signature, struct queued request) {
    unsigned own = signature % QUEUES, target = own;
    bool bound = false;
    for (unsigned q = 0; q < QUEUES; q++)
        for (unsigned i = 0; i < model->count[q]; i++) {
            const struct queued *other = &model->queue[q][i];
            bool conflict =
                other->line == request.line && other->program == request.program && (other->store || request.store);
            if (!conflict) continue;
            if (bound && target != q) return false;
            bound = true;
            target = q;
        }
    if (model->count[target] == ENTRIES) return false;
    model->queue[target][model->count[target]++] = request;
    model->joined += target != own;
    return true;
}

static unsigned model_select(const struct mrpb_model *model) {
    unsigned lowest = 0, longest = 0, next = (model->served + 1) % QUEUES;
    while (!model->count[lowest]) lowest++;
    for (unsigned q = 0; q < QUEUES; q++)
        if (model->count[q] > model->count[longest]) longest = q;
    while (!model->count[next]) next = (next + 1) % QUEUES;
    switch (model->drain) {
    case 'g': return model->count[model->served] ? model->served : lowest;
    case 'f': return lowest;
    case 'r': return next;
    default: return longest;
    }
}

/* The name of the request that leaves in this cycle; -1 if none does. */
static int model_leave(struct mrpb_model *model) {
    unsigned waiting = 0;
    for (unsigned q = 0; q < QUEUES; q++) waiting += model->count[q];
    if (!waiting) return -1;
    unsigned q = model->served = model_select(model);
    int name = model->queue[q][0].name;
    memmove(&model->queue[q][0], &model->queue[q][1], --model->count[q] * sizeof model->queue[q][0]);
    return name;
}

static void compare_order(const char *drain, const char *signature, char letter, uint64_t seed) {
    struct l1_fixture *l1 =
        l1_fixture_create(SETTINGS("l1.insertion=mrpb", "l1.mrpb.queues=5", "l1.mrpb.entries=3", drain, signature));
    l1->base.llc->next_program = l1->base.llc;
    struct mrpb_model model = {.drain = letter};
    bool by_warp = strstr(signature, "warp") != NULL;
    uint64_t random = seed;
    unsigned entered = 0, refused = 0;
    uint8_t name = 0;
    int expected = -1;                    /* at the network */
    for (unsigned i = 0; i < 1500; i++) { /* FIFOs fill in one hundred cycles and run empty in the next */
        cycle(l1);
        l1->woken_count = 0;
        int seen = -1;
        if (port_peek(&l1->to_network, l1->now)) {
            struct message message = take(l1);
            seen = message.conflicts;
            answer(l1, message);
        }
        CHECK_EQ(seen, expected);
        expected = model_leave(&model);
        unsigned wanted = i / 100 % 2 ? random_below(&random, 3) == 0 : 1 + (unsigned)random_below(&random, 2);
        for (; wanted > 0; wanted--) {
            bool store = random_below(&random, 4) == 0;
            struct l1_request request = {.address = random_below(&random, 6) * 128,
                                         .kind = store ? MESSAGE_WRITE : MESSAGE_READ,
                                         .bypass = !store,
                                         .conflicts = name,
                                         .program = (uint8_t)random_below(&random, 2),
                                         .warp = (uint8_t)random_below(&random, 7),
                                         .instr = (uint32_t)random_below(&random, 9)};
            bool accepted = model_enter(&model, by_warp ? request.warp : request.instr,
                                        (struct queued){request.address, store, request.program, name});
            CHECK_OUTCOME(access_by(l1, request), accepted ? L1_QUEUED : L1_FAIL_INPUT_QUEUE);
            name = (uint8_t)(name + accepted);
            entered += accepted;
            refused += !accepted;
        }
    }
    CHECK_EQ(COUNTER(l1, "l1.mrpb.entered"), entered);
    CHECK_EQ(COUNTER(l1, "l1.mrpb.joined"), model.joined);
    CHECK(model.joined > 20);
    CHECK(refused > 20 && entered > 500);
    settle(l1);
    l1_fixture_destroy(l1);
}

TEST("mrpb: requests leave in the order of its model, under every drain rule and signature") {
    static const struct {
        const char *setting;
        char letter;
    } drains[] = {{"l1.mrpb.drain=greedy", 'g'},
                  {"l1.mrpb.drain=fixed", 'f'},
                  {"l1.mrpb.drain=rr", 'r'},
                  {"l1.mrpb.drain=longest", 'l'}};
    for (unsigned i = 0; i < COUNT_OF(drains); i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            compare_order(drains[i].setting, "l1.mrpb.signature=warp", drains[i].letter, seed);
            compare_order(drains[i].setting, "l1.mrpb.signature=instruction", drains[i].letter, seed);
        }
}
