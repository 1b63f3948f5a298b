/* What a link costs, by its length and the time it has: a wire with repeaters, for every bit.
 *
 * n repeaters of size s on a wire of length L take n t + w L²/n + L (d/s + l s): their own delay, the wire's, and that of driving the
 * wire and the next repeater (Elmore). As DSENT does, the fewest are taken that are fast enough, of the smallest size; where none are,
 * as many as would be fastest, of the least size. Wire energy goes with length, repeaters cost by n s.
 *
 * Left out: coding, low-swing wires, several cycles by latches on the way.
 */
#ifndef SLUICE_ENERGY_LINK_H
#define SLUICE_ENERGY_LINK_H

#include "energy/table.h"

struct link_table {
    struct table_head head;
    double wire_pj, repeater_pj;             /* of a bit: a millimetre; a repeater of size 1 */
    double repeater_leak_mw;                 /* of size 1 */
    double repeater_area_mm2, wire_area_mm2; /* of one more than its size; of a millimetre, in the wire's layer */
    double repeater_ps, wire_ps, drive_ps, load_ps;
    struct int_list sizes_percent; /* ascending */
};

extern const struct yaml_form link_form;

struct link_cost {
    unsigned repeaters;
    double size;
    double pj; /* of a flit */
    double leak_mw, area_mm2, wire_mm2;
};
struct link_cost link_cost(const struct link_table *table, unsigned bits, double length_mm, double available_ps);

#endif
