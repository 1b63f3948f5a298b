/* Every read miss allocates: the plain cache ("BL" in Locality-Driven Dynamic GPU Cache Bypassing, ICS 2015, section
 * 6.1). The policy has no operations. */
#include "l1/insertion.h"

const struct insertion_ops insertion_always = {
    .policy = {"always", "every read miss allocates", NULL},
};
