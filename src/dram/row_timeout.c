/* Rows with a time limit: a row is closed when it has had no column command for a number of cycles and no queued request
 * wants it. */
#include "base/base.h"
#include "dram/row_policy.h"

struct timeout_config {
    int64_t cycles;
};

static const struct param params[] = {
    P_INT(struct timeout_config, cycles, 50, 1, 1000000, "memory cycles",
          "from a row's last column command until it is closed, if no queued request wants it"),
};

static const struct section section = {.path = "timeout",
                                       .help = "rows with a time limit",
                                       .params = params,
                                       .count = COUNT_OF(params),
                                       .size = sizeof(struct timeout_config)};

static int64_t close_after(const void *values) { return ((const struct timeout_config *)values)->cycles; }

const struct row_policy_ops row_policy_timeout = {
    .policy = {"timeout", "a row that no queued request wants is closed a while after its last use", &section},
    .close_after = close_after,
};
