/* FR-FCFS with a cap: after `cap` row hits to a row, its requests lose their priority. They are served when the request
 * is the oldest of all and nothing else can be issued, so that a stream of row hits delays a request for another bank
 * by a bounded time. The cap does not close the row: within the bank, row hits still have priority over other rows
 * (Ramulator's rule, which may close it, is `oldest-ready`). */
#include "base/base.h"
#include "dram/scheduler.h"

struct cap_config {
    int64_t cap;
};

static const struct param params[] = {
    P_INT(struct cap_config, cap, 16, 1, 1000000, "commands",
          "row hits to an open row that have priority over other requests"),
};

static const struct section section = {.path = "fr-fcfs-cap",
                                       .help = "FR-FCFS with a cap on row hits",
                                       .params = params,
                                       .count = COUNT_OF(params),
                                       .size = sizeof(struct cap_config)};

static int64_t row_hit_cap(const void *values) { return ((const struct cap_config *)values)->cap; }

const struct dram_scheduler_ops dram_scheduler_fr_fcfs_cap = {
    .policy = {"fr-fcfs-cap", "FR-FCFS with a cap on the row hits that have priority over other requests", &section},
    .row_hit_cap = row_hit_cap,
};
