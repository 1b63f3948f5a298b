/* Every read that misses brings its line in: the plain cache ("BL" in Locality-Driven Dynamic GPU Cache Bypassing, ICS
 * 2015, section 6.1). Nobody is asked. */
#include "l1/insertion.h"

const struct insertion_ops insertion_always = {
    .policy = {"always", "every read that misses brings its line in", NULL},
};
