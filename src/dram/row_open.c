/* Open rows: a row stays open until a request needs another row of the bank, or a refresh closes it. */
#include "dram/row_policy.h"

const struct row_policy_ops row_policy_open = {
    .policy = {"open", "a row stays open until another row of the bank is needed", NULL},
};
