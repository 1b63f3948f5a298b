/* Rows with a timeout: a row is closed when it has had no column command for a number of cycles and no queued request
 * needs it. */
#include "base/base.h"
#include "dram/row_policy.h"

struct timeout_config {
    int64_t cycles;
};

static const struct param params[] = {
    P_INT(struct timeout_config, cycles, 50, 1, 1000000, "memory cycles",
          "timeout after a row's last column command, if no queued request needs the row"),
};

static const struct section section = {.path = "timeout",
                                       .help = "row policy with a timeout",
                                       .params = params,
                                       .count = COUNT_OF(params),
                                       .size = sizeof(struct timeout_config)};

static int64_t close_after(const void *values) { return ((const struct timeout_config *)values)->cycles; }

const struct row_policy_ops row_policy_timeout = {
    .policy = {"timeout", "a row that no queued request needs is closed after a timeout", &section},
    .close_after = close_after,
};
