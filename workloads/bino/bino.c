/* Prices of European call options by binomial trees. */
#include "work.h"

#include <stdio.h>

WORK_PTX(bino, "bino/bino.ptx");

enum { THREADS = 128, OPTIONS = 1024 };

struct option {
    float stock, strike, drift, down, up, pad[3];
};

static struct option make_option(struct work *work, int64_t steps) {
    const double riskless = 0.06, volatility = 0.10;
    double years = (double)work_between(work, 1, 5), step = years / (double)steps, drift = volatility * sqrt(step);
    double growth = exp(riskless * step), chance = (growth - exp(-drift)) / (exp(drift) - exp(-drift));
    float stock = work_between(work, 5, 30), strike = work_between(work, 5, 35);
    return (struct option){.stock = stock,
                           .strike = strike,
                           .drift = (float)drift,
                           .down = (float)((1 - chance) / growth),
                           .up = (float)(chance / growth)};
}

static double reference(const struct option *o, int64_t steps, double *value) {
    for (int64_t i = 0; i <= steps; i++)
        value[i] = fmax((double)o->stock * exp((double)o->drift * (double)(2 * i - steps)) - (double)o->strike, 0);
    for (int64_t row = steps; row > 0; row--)
        for (int64_t i = 0; i < row; i++) value[i] = (double)o->up * value[i + 1] + (double)o->down * value[i];
    return value[0];
}

/* All terms are positive, so each step adds at most a few half units in the last place. Of the deepest trees, which
 * take long on the CPU, only some are checked. */
static void verify(struct work *work, const struct option *option, const float *price, int64_t count, int64_t steps) {
    double *value = mem_alloc((size_t)steps + 1, sizeof *value);
    for (int64_t i = 0; i < count; i += 1 + count * steps * steps / 1000000000) {
        float expected = (float)reference(&option[i], steps, value);
        work_expect_f32(work, "price", &price[i], &expected, 1, (double)steps * 0x1p-23, 1e-3);
    }
    free(value);
}

static void run(struct work *work) {
    int64_t count = work->size[0], steps = work->size[1];
    uint64_t bytes, value, options = host_symbol(work->host, "bino_options", &bytes);
    struct option *option = work_view(work, options, OPTIONS * sizeof *option);
    float *price = WORK_NEW(work, float, count, &value);
    for (int64_t i = 0; i < count; i++) option[i] = make_option(work, steps);
    char kernel[32];
    snprintf(kernel, sizeof kernel, "bino_price_%lld", (long long)steps);
    WORK_LAUNCH(work, kernel, DIM((uint32_t)count), DIM(THREADS), HOST_U64(value));
    if (work->verify) verify(work, option, price, count, steps);
}

static const struct work_size sizes[] = {
    {"tiny", {3, 256}}, {"small", {32, 2048}}, {"adaptive", {1024, 512}}, {"selrep", {1024, 512}}};

WORKLOAD(bino, "bino", .help = "binomial option pricing; compute bound", .parameters = "options steps");
