/* The patterns of open-loop traffic: who sends to whom, and how often. */
#include "noc/traffic.h"

#include "test.h"

static const struct network_shape square = {64, 64, 8, 8};

/* Packets from each source to each destination. */
struct flows {
    uint64_t sent[64][64], total;
};

static void count(struct traffic *traffic, unsigned destination, const struct message *message, uint64_t now) {
    struct flows *flows = traffic->observer;
    (void)now;
    flows->sent[message->source][destination]++;
    flows->total++;
}

static struct flows flows_of(enum traffic_pattern pattern, double hot_share) {
    static const char *const settings[] = {"noc.topology=ideal", NULL};
    struct traffic traffic;
    struct error err = {0};
    struct flows flows = {0};
    REQUIRE(traffic_open(&traffic, settings, NETWORK_REQUEST, square, 1, &err));
    traffic.hot_share = hot_share;
    traffic.observe = count;
    traffic.observer = &flows;
    traffic_start(&traffic, pattern, 0.01);
    traffic.stop = 40000;
    CHECK_EQ((int)engine_run_until(traffic.engine, 100000), (int)ENGINE_QUIET);
    traffic_close(&traffic);
    return flows;
}

TEST("transpose traffic goes from (row, column) to (column, row)") {
    struct flows flows = flows_of(TRAFFIC_TRANSPOSE, 0);
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 8; column++) {
            const uint64_t *sent = flows.sent[row * 8 + column];
            uint64_t all = 0;
            for (unsigned d = 0; d < 64; d++) all += sent[d];
            CHECK(all > 0);
            CHECK_EQ(sent[column * 8 + row], all);
        }
}

TEST("a hot spot gets the configured share of all traffic, and the other destinations share the rest equally") {
    for (double share = 0.1; share < 0.6; share += 0.4) {
        struct flows flows = flows_of(TRAFFIC_HOTSPOT, share);
        for (unsigned d = 0; d < 64; d++) {
            uint64_t got = 0;
            for (unsigned s = 0; s < 64; s++) got += flows.sent[s][d];
            CHECK_NEAR((double)got / (double)flows.total, d ? (1 - share) / 63 : share, 0.25);
            if (d == 0) CHECK_NEAR((double)got / (double)flows.total, share, 0.05);
        }
    }
}

TEST("transpose needs a square of sources and as many destinations; a hot spot needs other destinations") {
    CHECK(traffic_fits(TRAFFIC_TRANSPOSE, 64, 64) && traffic_fits(TRAFFIC_TRANSPOSE, 1, 1));
    CHECK(!traffic_fits(TRAFFIC_TRANSPOSE, 80, 64) && !traffic_fits(TRAFFIC_TRANSPOSE, 80, 80));
    CHECK(traffic_fits(TRAFFIC_HOTSPOT, 80, 2) && !traffic_fits(TRAFFIC_HOTSPOT, 80, 1));
    CHECK(traffic_fits(TRAFFIC_UNIFORM, 80, 1));
}
