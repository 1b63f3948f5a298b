#include "l1/insertion.h"

#include "base/base.h"

#define INSERTION(name) extern const struct insertion_ops insertion_##name;
#include "l1/insertions.def"
#undef INSERTION

static const struct policy *const members[] = {
#define INSERTION(name) &insertion_##name.policy,
#include "l1/insertions.def"
#undef INSERTION
};

const struct family insertion_family = {"insertion policy", members, COUNT_OF(members)};
