/* What a cache or a table of bits costs, by its geometry: energy of reading and writing, leakage, area, of data and of tags.
 *
 * A quantity is scale × bytes^p × ways^q, fitted to CACTI (tools/energy-fit, docs/energy.md); exponents are never negative. CACTI was
 * asked for outputs of 256 and 1024 bits; widths between them lie on the line through the two in logarithms, unless the wider is the
 * cheaper: then the nearer of the two counts. Beyond them it is the nearer, too: what is wider takes several accesses.
 *
 * Left out: banks, ports, and that CACTI divides an array anew for each size, which is where it differs most from a power law.
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
    double bytes;        /* of data */
    unsigned ways, bits; /* bits: that one access moves */
};

/* The same quantities of one array; `offset` is that of the quantity in struct array_width. */
double array_value(const struct array_table *table, size_t offset, const struct array_shape *shape);
#define ARRAY_VALUE(table, quantity, shape) array_value(table, offsetof(struct array_width, quantity), shape)

/* A table of so many bytes, looked up as tags are: the tags of a cache that has as many. */
double array_table_read_pj(const struct array_table *table, double bytes);
double array_table_area_mm2(const struct array_table *table, double bytes);
double array_table_leak_mw(const struct array_table *table, double bytes);

#endif
