/* Shared by the parts of energy accounting: access to counters, and how joules are added. Private to the energy
 * module. */
#ifndef SLUICE_ENERGY_ACCOUNT_H
#define SLUICE_ENERGY_ACCOUNT_H

#include "energy/energy.h"

#define PICO  1e-12
#define MILLI 1e-3

struct account {
    const struct energy_model *model;
    const struct config *config;
    const struct stats *stats;
    struct energy_book *book;
    double seconds;
};

/* 0 if there is no such counter: the machine lacks that component. */
static inline double account_count(const struct account *account, const char *counter) {
    return (double)stats_get(account->stats, counter, NULL);
}

static inline void account_events(const struct account *account, enum energy_part part, double events, double pj) {
    account->book->part[part].events += events * pj * PICO;
}

static inline void account_power(const struct account *account, enum energy_part part, double watts) {
    account->book->part[part].time += watts * account->seconds;
}

double account_core_hertz(const struct config *config);

/* Crossbars of groups of L1s, networks between groups, and directories of what other groups hold (groups.c). */
void account_groups(const struct account *account);

#endif
