/* What a design's hardware adds to a plain machine: storage by item, as the sections of its choices declare it (config.h), with the
 * area it takes; and the crossbars between the slices and channels of a memory controller, which lines in any slice need.
 *
 * The crossbars are "Selective Replication in Memory-Side GPU Caches", section IV-D: one for each direction, with a flit of buffer
 * at each input, and links across the chip from and to every slice.
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
    double llc_bytes, llc_tag_bytes; /* of data; by which tags grow */
    double crossbar_mm2, link_mm2;   /* of slices and channels; 0 where there is one channel, or lines stay at home */
    double die_share;                /* all area above over that of the chip */
};

void overhead_of(const struct config *config, const struct energy_model *model, struct overhead *overhead);

#endif
