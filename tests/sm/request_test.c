/* The requests that the load/store unit makes of the L1, seen by an L1 that records them and passes them on. */
#include "sm/sm_fixture.h"

enum { REQUESTS = 16 };

static struct {
    const struct l1_ops *ops;
    struct l1_request request[REQUESTS];
    unsigned count;
} seen;

static enum l1_outcome record(struct l1 *l1, unsigned sm, const struct l1_request *request, uint64_t now) {
    struct l1_request passed_on = *request;
    passed_on.program = 0; /* the organisations of the fixture are those of one program */
    enum l1_outcome outcome = seen.ops->access(l1, sm, &passed_on, now);
    if (outcome < L1_ACCEPTED && seen.count < REQUESTS) seen.request[seen.count++] = *request;
    return outcome;
}

static void run_recorded(struct script_source *source, uint8_t program) {
    struct sm_fixture *sm = sm_fixture_create(SETTINGS("sm.schedulers=1", "sm.coalescing=sector"));
    struct l1_ops recording = *sm->l1->ops;
    seen.ops = sm->l1->ops;
    seen.count = 0;
    recording.access = record;
    sm->l1->ops = &recording;
    sm->program = program;
    sm_fixture_run(sm, source);
    sm->l1->ops = seen.ops;
    sm_fixture_destroy(sm);
}

TEST("a request names its instruction, its warp and its program") {
    static const uint32_t ids[] = {5, 77, 3000};
    struct step steps[] = {load_line(1, 0x1000), store_line(1, 0x2000), atomic_on(2, 0x3000, 3)};
    struct step none[] = {alu(OP_other, 1, 0)};
    struct script_source source = script_make(1, 4, SCRIPT(none));
    for (unsigned i = 0; i < 2; i++) script_add(&source, SCRIPT(none));
    script_add(&source, SCRIPT(steps));
    source.ids = ids;
    for (uint8_t program = 0; program < 2; program++) {
        run_recorded(&source, program);
        static const uint8_t kinds[] = {MESSAGE_READ, MESSAGE_WRITE, MESSAGE_ATOMIC};
        REQUIRE(seen.count == 3);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_EQ(seen.request[i].kind, kinds[i]);
            CHECK_EQ(seen.request[i].instr, ids[i]);
            CHECK_EQ(seen.request[i].warp, 3);
            CHECK_EQ(seen.request[i].program, program);
            CHECK_EQ(seen.request[i].address, 0x1000u * (i + 1));
            CHECK_EQ(seen.request[i].conflicts, i == 2 ? 3 : 1);
        }
    }
}

TEST("of loads and stores marked .cg only loads bypass the L1, and not those of local memory") {
    struct step steps[] = {load_line(1, 0x1000), store_line(1, 0x2000), load_local(2, 0x3000), store_local(2, 0x4000),
                           load_line(3, 0x5000)};
    for (unsigned i = 0; i < 4; i++) steps[i].instr.cache = CACHE_GLOBAL;
    struct script_source source = script_make(1, 1, SCRIPT(steps));
    run_recorded(&source, 0);
    static const bool bypass[] = {true, false, false, false, false}, local[] = {false, false, true, true, false};
    unsigned lines = 0;
    for (unsigned i = 0; i < seen.count; i++) {
        unsigned step = (unsigned)(seen.request[i].address / 0x1000) - 1;
        REQUIRE(step < COUNT_OF(bypass));
        lines |= 1u << step;
        CHECK_EQ(seen.request[i].bypass, bypass[step]);
        CHECK_EQ(seen.request[i].local, local[step]);
    }
    CHECK_EQ(lines, 0x1Fu);
}

TEST("a load asks for the sectors that it touches, of a line that is touched whole or in part") {
    static const uint8_t touched[] = {0x0F, 0xF0, 0x0E, 0x07, 0x70, 0xE0, 0x3C, 0xFF, 0x01};
    for (unsigned i = 0; i < COUNT_OF(touched); i++) {
        struct step steps[] = {memory_step(OP_load, SPACE_GLOBAL, 1, 0x1000, touched[i])};
        struct script_source source = script_make(1, 1, SCRIPT(steps));
        run_recorded(&source, 0);
        unsigned sectors = 0;
        for (unsigned k = 0; k < seen.count; k++)
            sectors |= (unsigned)seen.request[k].sectors << (seen.request[k].address - 0x1000) / SECTOR_BYTES;
        CHECK_EQ(sectors, touched[i]);
    }
}
