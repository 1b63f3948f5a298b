/* The arbiter of the load/store unit. Each sub-core has a queue of memory instructions. The unit begins an instruction at
 * most every `lsu_interval` cycles, and when the one before has left it: the first of a queue that has its operands, in
 * turn of the sub-cores. An instruction with a reservation failure keeps the unit.
 */
#include "sm/sm_state.h"

void arbiter_schedule(struct sm *sm, uint64_t now) {
    uint64_t ready_at = NEVER;
    for (unsigned i = 0; i < sm->shared->subcores; i++) {
        const struct lsu_queue *queue = &sm->subcore[i].queue;
        if (!lsu_is_empty(queue)) ready_at = min_u64(ready_at, lsu_first(queue)->ready_at);
    }
    sm->lsu = NULL;
    sm->lsu_next_at = NEVER;
    if (ready_at == NEVER) return;
    sm->lsu_next_at = max_u64(max_u64(ready_at, now + 1), max_u64(sm->lsu_free_at, sm->lsu_begins_at));
    engine_wake_by(sm->engine, sm->waker, sm->lsu_next_at);
}

void arbiter_select(struct sm *sm, uint64_t now) {
    unsigned subcores = sm->shared->subcores, i = sm->lsu_turn;
    for (;; i = (i + 1) % subcores) {
        const struct lsu_queue *queue = &sm->subcore[i].queue;
        if (!lsu_is_empty(queue) && lsu_first(queue)->ready_at <= now) break;
        assert((i + 1) % subcores != sm->lsu_turn && "the unit is scheduled for an instruction");
    }
    sm->lsu = &sm->subcore[i].queue;
    sm->lsu_turn = (i + 1) % subcores;
    const struct lsu_entry *entry = lsu_first(sm->lsu);
    unsigned cycles = sm->shared->l1_port_bytes && entry->space != SPACE_SHARED ? entry->data_cycles : 1;
    sm->lsu_data_at = now + cycles - 1;
    sm->lsu_begins_at = now + max_u64(sm->shared->lsu_interval, cycles);
}
