/* The family of row policies. */
#include "dram/row_policy.h"

#include "base/base.h"
#include "dram/dram_config.h"

#define ROW_POLICY(name) extern const struct row_policy_ops row_policy_##name;
#include "dram/row_policies.def"
#undef ROW_POLICY

static const struct policy *const members[] = {
#define ROW_POLICY(name) &row_policy_##name.policy,
#include "dram/row_policies.def"
#undef ROW_POLICY
};

const struct family row_policy_family = {"row policy", members, COUNT_OF(members)};
