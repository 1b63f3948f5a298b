#include "gpu/cta_scheduler.h"

#define CTA_SCHEDULER(name) extern const struct cta_scheduler_ops cta_scheduler_##name;
#include "gpu/cta_schedulers.def"
#undef CTA_SCHEDULER

static const struct policy *const members[] = {
#define CTA_SCHEDULER(name) &cta_scheduler_##name.policy,
#include "gpu/cta_schedulers.def"
#undef CTA_SCHEDULER
};

const struct family cta_scheduler_family = {"CTA scheduler", members, COUNT_OF(members)};
