/* The family of DRAM schedulers. */
#include "dram/scheduler.h"

#include "base/base.h"
#include "dram/dram_config.h"

#define SCHEDULER(name) extern const struct dram_scheduler_ops dram_scheduler_##name;
#include "dram/schedulers.def"
#undef SCHEDULER

static const struct policy *const members[] = {
#define SCHEDULER(name) &dram_scheduler_##name.policy,
#include "dram/schedulers.def"
#undef SCHEDULER
};

const struct family dram_scheduler_family = {"DRAM scheduler", members, COUNT_OF(members)};
