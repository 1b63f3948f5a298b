/* Black-Scholes option pricing: three input streams, two output streams, and arithmetic. */
#include "work.h"

WORK_PTX(bs, "bs/bs.ptx");

enum { THREADS = 128 };
static const float RATE = 0.02f, VOLATILITY = 0.3f;

/* Prices reach 100. The kernel's normal distribution has an error of 7.5e-8 and single precision about the same, but
 * its argument comes from a fast logarithm and a fast division with errors of about 1e-6 each. */
static const double TOLERANCE = 1e-5, SCALE = 100;

static double normal(double d) { return 0.5 * erfc(-d * sqrt(0.5)); }

static void reference(double s, double x, double t, float *call, float *put) {
    double deviation = VOLATILITY * sqrt(t), discounted = x * exp(-RATE * t);
    double d1 = log(s / discounted) / deviation + 0.5 * deviation, d2 = d1 - deviation;
    *call = (float)(s * normal(d1) - discounted * normal(d2));
    *put = (float)(discounted * normal(-d2) - s * normal(-d1));
}

static void run(struct work *work) {
    int64_t options = work->size[0], launches = work->size[1], pairs = options / 2;
    uint64_t call, put, stock, strike, years;
    float *hcall = WORK_NEW(work, float, options, &call), *hput = WORK_NEW(work, float, options, &put),
          *hstock = WORK_NEW(work, float, options, &stock), *hstrike = WORK_NEW(work, float, options, &strike),
          *hyears = WORK_NEW(work, float, options, &years);
    work_fill(work, hstock, (uint64_t)options, 5, 30);
    work_fill(work, hstrike, (uint64_t)options, 1, 100);
    work_fill(work, hyears, (uint64_t)options, 0.25f, 10);
    for (int64_t i = 0; i < launches; i++)
        WORK_LAUNCH(work, "bs_price", DIM(blocks_of(pairs, THREADS)), DIM(THREADS), HOST_U64(call), HOST_U64(put),
                    HOST_U64(stock), HOST_U64(strike), HOST_U64(years), HOST_F32(RATE), HOST_F32(VOLATILITY),
                    HOST_S32((int32_t)pairs));
    if (!work->verify) return;
    for (int64_t i = 0; i < options && !work->wrong; i++) {
        float expected_call, expected_put;
        reference(hstock[i], hstrike[i], hyears[i], &expected_call, &expected_put);
        work_expect_f32(work, "call", &hcall[i], &expected_call, 1, TOLERANCE, SCALE);
        work_expect_f32(work, "put", &hput[i], &expected_put, 1, TOLERANCE, SCALE);
    }
}

static const struct work_size sizes[] = {
    {"tiny", {32768, 1}},
    {"small", {2000000, 3}},
    {"adaptive", {4000000, 3}},
    {"selrep", {4000000, 3}},
};

WORKLOAD(bs, "bs", .help = "Black-Scholes option pricing; streaming with arithmetic", .parameters = "options launches");
