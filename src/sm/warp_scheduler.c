#include "sm/warp_scheduler.h"

#include "sm/sm_config.h"

#define WARP_SCHEDULER(name) extern const struct warp_scheduler_ops warp_scheduler_##name;
#include "sm/warp_schedulers.def"
#undef WARP_SCHEDULER

static const struct policy *const members[] = {
#define WARP_SCHEDULER(name) &warp_scheduler_##name.policy,
#include "sm/warp_schedulers.def"
#undef WARP_SCHEDULER
};

const struct family warp_scheduler_family = {"warp scheduler", members, COUNT_OF(members)};
