/* Cost of a cache or table by its geometry: read and write energy, leakage and area of data and tags.
 *
 * A quantity is scale × bytes^p × ways^q, fitted to CACTI (tools/energy-fit, docs/energy.md); exponents are never
 * negative. CACTI was run for outputs of 256 and 1024 bits; widths in between are interpolated logarithmically, unless
 * the wider output is the cheaper one: then the nearer of the two counts. Widths beyond them use the nearer one, too: a
 * wider access takes several.
 *
 * Not modelled: banks, ports, and CACTI's partitioning of an array for each size, its largest deviation from a power
 * law.
 */
#ifndef SLUICE_ENERGY_ARRAY_H
#define SLUICE_ENERGY_ARRAY_H

#include "energy/table.h"

struct array_law {
    double scale, bytes, ways;
    double small; /* factor below ARRAY_SMALL_BYTES, at most 1 */
};

enum { ARRAY_SMALL_BYTES = 32768, ARRAY_TAG_BYTES = 4 /* CACTI's tag and state of a line */ };

#define ARRAY_QUANTITIES(Q) \
    Q(data_read_pj) \
    Q(data_write_pj) \
    Q(data_leak_mw) \
    Q(data_area_mm2) \
    Q(tag_read_pj) \
    Q(tag_leak_mw) \
    Q(tag_area_mm2)

struct array_width {
#define Q(name) struct array_law name;
    ARRAY_QUANTITIES(Q)
#undef Q
};

struct array_table {
    struct table_head head;
    struct array_width bits_256, bits_1024;
};

extern const struct yaml_form array_form;

struct array_shape {
    double bytes;        /* data capacity */
    unsigned ways, bits; /* bits: moved by one access */
};

/* The quantities of one array; `offset` is that of the quantity in struct array_width. */
double array_value(const struct array_table *table, size_t offset, const struct array_shape *shape);
#define ARRAY_VALUE(table, quantity, shape) array_value(table, offsetof(struct array_width, quantity), shape)

/* A table of `bytes`, accessed like tags: the tags of a cache with as many bytes of tags. */
double array_table_read_pj(const struct array_table *table, double bytes);
double array_table_area_mm2(const struct array_table *table, double bytes);
double array_table_leak_mw(const struct array_table *table, double bytes);

#endif
