/* Cost of a link by its length and its time budget: a repeated wire for each bit.
 *
 * n repeaters of size s on a wire of length L have a delay of n t + w L²/n + L (d/s + l s): their own, the wire's, and
 * that of driving the wire and the next repeater (Elmore). As in DSENT, the link uses the fewest repeaters that are
 * fast enough, of the smallest size; if none are, the number with the lowest delay, of the smallest size. Wire energy
 * is proportional to length, repeater cost to n s.
 *
 * Not modelled: coding, low-swing wires, pipelining of a link by latches.
 */
#ifndef SLUICE_ENERGY_LINK_H
#define SLUICE_ENERGY_LINK_H

#include "energy/table.h"

struct link_table {
    struct table_head head;
    double wire_pj, repeater_pj; /* per bit: of a millimetre; of a repeater of size 1 */
    double repeater_leak_mw;     /* of size 1 */
    double repeater_area_mm2,
        wire_area_mm2; /* of a repeater, times its size plus one; of a millimetre, in the wire's layer */
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
