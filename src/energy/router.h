/* Cost of a router by its shape: energy per event, leakage, area.
 *
 * A quantity is a sum of terms, coefficient × product of shape parameters, fitted to DSENT (tools/energy-fit,
 * docs/energy.md). No coefficient is negative, so that cost never decreases with more ports, wider channels, more VCs
 * or deeper buffers. The input port is a register file of VCs × flits, the crossbar a matrix of crosspoints, the
 * allocators trees of arbiters.
 *
 * Not modelled: data-dependent energy; voltages and frequencies other than the table's.
 */
#ifndef SLUICE_ENERGY_ROUTER_H
#define SLUICE_ENERGY_ROUTER_H

#include "energy/table.h"

struct router_shape {
    unsigned inputs, outputs, bits, vcs, vc_flits;
};

/* Terms of a quantity: inputs I, outputs O, bits W, VCs V, buffer flits per VC B. */
#define ROUTER_TERMS(T) \
    T(one, 1) \
    T(inputs, I) \
    T(inputs2, I *I) \
    T(bits, W) \
    T(stored_bits, W *V *B) \
    T(input_bits, W *I) \
    T(output_bits, W *O) \
    T(crosspoint_bits, W *I *O) \
    T(crosspoint_bits2, W *W *I *O) \
    T(crosspoints, I *O) \
    T(crosspoints_inputs, I *I *O) \
    T(vcs2, V *(V - 1)) \
    T(input_vcs2, I *V *(V - 1))

/* Picojoules per event (clock: per cycle); milliwatts and square millimetres per input port, or for the whole
 * component. */
#define ROUTER_QUANTITIES(Q) \
    Q(buffer_write_pj) \
    Q(buffer_read_pj) \
    Q(crossbar_pj) \
    Q(vc_allocation_pj) \
    Q(switch_allocation_pj) \
    Q(clock_pj) \
    Q(input_leak_mw) \
    Q(crossbar_leak_mw) \
    Q(allocator_leak_mw) \
    Q(register_leak_mw) \
    Q(input_area_mm2) \
    Q(crossbar_area_mm2) \
    Q(allocator_area_mm2) \
    Q(register_area_mm2)

struct router_sum {
#define T(name, product) double name;
    ROUTER_TERMS(T)
#undef T
};

struct router_table {
    struct table_head head;
#define Q(name) struct router_sum name;
    ROUTER_QUANTITIES(Q)
#undef Q
};

extern const struct yaml_form router_form;

double router_value(const struct router_sum *sum, const struct router_shape *shape);
double router_leak_mw(const struct router_table *table, const struct router_shape *shape);
/* In square millimetres. Registers are those of the pipeline, including the clock tree. */
struct router_area {
    double buffers, crossbar, allocators, registers;
};
struct router_area router_area(const struct router_table *table, const struct router_shape *shape);
double router_area_mm2(const struct router_table *table, const struct router_shape *shape);

#endif
