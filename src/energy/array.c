#include "energy/array.h"

#include <math.h>

#include "base/base.h"

static double law_value(const struct array_law *law, const struct array_shape *shape) {
    double value = law->scale * pow(shape->bytes, law->bytes) * pow(shape->ways, law->ways);
    return shape->bytes < ARRAY_SMALL_BYTES ? value * law->small : value;
}

double array_value(const struct array_table *table, size_t offset, const struct array_shape *shape) {
    const struct array_law *narrow = (const void *)((const char *)&table->bits_256 + offset);
    const struct array_law *wide = (const void *)((const char *)&table->bits_1024 + offset);
    double a = law_value(narrow, shape), b = law_value(wide, shape);
    double fraction = fmin(fmax(log2(shape->bits / 256.0) / 2, 0), 1); /* 0 at 256 bits, 1 at 1024 */
    return b > a && a > 0 ? a * pow(b / a, fraction) : fraction < 0.5 ? a : b;
}

/* Four ways: the fewest that CACTI was run for. */
static struct array_shape tags_of(double bytes) {
    return (struct array_shape){.bytes = bytes / ARRAY_TAG_BYTES * 128, .ways = 4, .bits = 256};
}

double array_table_read_pj(const struct array_table *table, double bytes) {
    struct array_shape shape = tags_of(bytes);
    return bytes > 0 ? ARRAY_VALUE(table, tag_read_pj, &shape) : 0;
}

double array_table_area_mm2(const struct array_table *table, double bytes) {
    struct array_shape shape = tags_of(bytes);
    return bytes > 0 ? ARRAY_VALUE(table, tag_area_mm2, &shape) : 0;
}

double array_table_leak_mw(const struct array_table *table, double bytes) {
    struct array_shape shape = tags_of(bytes);
    return bytes > 0 ? ARRAY_VALUE(table, tag_leak_mw, &shape) : 0;
}

#define EXPONENT(field) \
    { .param = P_REAL(struct array_law, field, 0, 0, 4, "", "") }
static const struct yaml_key law_keys[] = {
    TABLE_REAL(struct array_law, scale),
    EXPONENT(bytes),
    EXPONENT(ways),
    {.param = P_REAL(struct array_law, small, 1, 0, 1, "", "")},
};
static const struct yaml_form law_form = {.noun = "a law", .keys = law_keys, .count = COUNT_OF(law_keys)};

static bool read_law(struct yaml_reader *reader, void *user, void *to) {
    *(struct array_law *)to = (struct array_law){.small = 1};
    return yaml_read_form(reader, &law_form, user, to, NULL);
}

static const struct yaml_key width_keys[] = {
#define Q(name_) {.param = {.name = #name_, .offset = offsetof(struct array_width, name_)}, .read = read_law},
    ARRAY_QUANTITIES(Q)
#undef Q
};
static const struct yaml_form width_form = {
    .noun = "an output width", .keys = width_keys, .count = COUNT_OF(width_keys)};

static bool read_width(struct yaml_reader *reader, void *user, void *to) {
    (void)user;
    return table_read_whole(reader, &width_form, to);
}

static const struct yaml_key keys[] = {
    TABLE_HEAD,
    {.param = {.name = "bits_256", .offset = offsetof(struct array_table, bits_256)}, .read = read_width},
    {.param = {.name = "bits_1024", .offset = offsetof(struct array_table, bits_1024)}, .read = read_width},
};
const struct yaml_form array_form = {.noun = "a table of arrays", .keys = keys, .count = COUNT_OF(keys)};
