#include "lab/past.h"

#include "lab/store_sql.h"

static struct past stored(struct store *store, const char *workload) {
    struct past past = {0};
    past.seconds = store_job_seconds(store, workload);
    sqlite3_stmt *row = store_query(store, &store->unread,
                                    "SELECT max(value) FROM run JOIN value ON value.run = run.id"
                                    " WHERE workload = ?1 AND name = 'warp_instructions'",
                                    "t", workload);
    if (store_row(store, row)) past.warp_instructions = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return past;
}

struct past past_of(struct store *store, const struct kept_times *kept, const char *workload) {
    struct past past = {0};
    if (store) past = stored(store, workload);
    if (past.seconds <= 0) kept_times_find(kept, workload, &past.seconds, &past.warp_instructions);
    return past;
}
