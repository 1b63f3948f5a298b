/* maths FILE THREADS: compares what maths.cu has computed with the host's library. Prints the functions that are less accurate
 * than maths.def states; with a third argument, the largest error of each. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The argument is reduced before it is rounded. */
static long double sine_pi(long double x) {
    x = remainderl(x, 2);
    return sinl(3.14159265358979323846264L * (x > 0.5L ? 1 - x : x < -0.5L ? -1 - x : x));
}

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define ONE(real, name, value, low, high, ulp) \
    static long double PASTE(truth_, __LINE__)(long double x, long double y) { return (void)y, value; }
#define TWO(real, name, value, low, high, ulp) \
    static long double PASTE(truth_, __LINE__)(long double x, long double y) { return value; }
#include "maths.def"
#undef ONE
#undef TWO

static const struct function {
    const char *name;
    long double (*truth)(long double x, long double y);
    bool is_float;
    double ulp;
} functions[] = {
#define ONE(real, name, value, low, high, ulp) {#name, PASTE(truth_, __LINE__), sizeof(real) == sizeof(float), ulp},
#define TWO                                    ONE
#include "maths.def"
};

static long double ulp_of(const struct function *f, long double value) {
    int exponent, least = f->is_float ? FLT_MIN_EXP : DBL_MIN_EXP;
    frexpl(value, &exponent);
    return ldexpl(1, (exponent < least ? least : exponent) - (f->is_float ? FLT_MANT_DIG : DBL_MANT_DIG));
}

static long double error_of(const struct function *f, const double row[3]) {
    long double right = f->truth(row[0], row[1]);
    double rounded = f->is_float ? (float)right : (double)right;
    if (row[2] == rounded || (isnan(row[2]) && isnan(rounded))) return 0;
    return fabsl(row[2] - right) / ulp_of(f, right);
}

int main(int argc, char **argv) {
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    long threads = argc > 2 ? atol(argv[2]) : 0;
    bool good = file && threads > 0;
    for (const struct function *f = functions; file && f < functions + sizeof functions / sizeof *functions; f++) {
        long double worst = 0;
        double row[3], at[3] = {0};
        for (long i = 0; i < threads; i++) {
            if (fread(row, sizeof row, 1, file) != 1) return 2;
            long double error = error_of(f, row);
            if (error <= worst) continue;
            worst = error;
            for (int k = 0; k < 3; k++) at[k] = row[k];
        }
        bool accurate = worst <= f->ulp;
        good &= accurate;
        if (!accurate || argc > 3)
            printf("%s: %.2Lf ulp, at most %g; (%.17g, %.17g) -> %.17g\n", f->name, worst, f->ulp, at[0], at[1], at[2]);
    }
    if (file) fclose(file);
    return !good;
}
