/* Closed rows: a row is closed as soon as no queued request needs it. The next access to the bank needs no precharge,
 * but an access to the same row needs an activate. */
#include "dram/row_policy.h"

static int64_t close_after(const void *values) {
    (void)values;
    return 0;
}

const struct row_policy_ops row_policy_closed = {
    .policy = {"closed", "a row is closed as soon as no queued request needs it", NULL},
    .close_after = close_after,
};
