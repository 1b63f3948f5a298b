/* Hardware that a design adds to the baseline: storage by item, as declared by the sections of its policies (config.h),
 * with its area; and the crossbars between the slices and channels of a memory controller, needed if lines can be in
 * any slice.
 *
 * The crossbars follow "Selective Replication in Memory-Side GPU Caches", section IV-D: one per direction, with one
 * flit of buffer per input and links across the chip from and to every slice.
 */
#ifndef SLUICE_ENERGY_OVERHEAD_H
#define SLUICE_ENERGY_OVERHEAD_H

#include "energy/energy.h"

enum { OVERHEAD_ROWS = 64 };

struct overhead {
    struct overhead_row {
        char section[64]; /* "llc.adaptive" */
        struct storage_item item;
        double bytes, mm2, leak_mw;
    } row[OVERHEAD_ROWS];
    unsigned rows;
    double bytes, mm2, leak_mw;
    double llc_bytes, llc_tag_bytes; /* data capacity; growth of the tags */
    double crossbar_mm2,
        link_mm2;     /* between slices and channels; 0 with one channel, or if lines stay in their home slice */
    double die_share; /* total area above, relative to the chip */
};

void overhead_of(const struct config *config, const struct energy_model *model, struct overhead *overhead);

#endif
