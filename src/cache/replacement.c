#include "cache/replacement.h"

#include "base/base.h"

#define REPLACEMENT(name) extern const struct replacement_ops replacement_##name;
#include "cache/replacements.def"
#undef REPLACEMENT

static const struct policy *const members[] = {
#define REPLACEMENT(name) &replacement_##name.policy,
#include "cache/replacements.def"
#undef REPLACEMENT
};

const struct family replacement_family = {"replacement policy", members, COUNT_OF(members)};

bool replacement_check(const struct config *config, const struct section *owner, const struct policy *replacement,
                       unsigned sets, struct error *err) {
    const struct replacement_ops *ops = (const struct replacement_ops *)replacement;
    return !ops->check || ops->check(config, owner, sets, err);
}
