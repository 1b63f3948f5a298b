/* The network between L1 endpoints and LLC slices. Request and reply are two networks of this room, each one component
 * of the engine.
 *
 * Owns: routers, links, their flits, and the credits between them.
 * Enters: `struct message` pushed into network_input(net, source), with message.target (request network) or
 * message.source (reply network) naming the way out. A push is accepted when the injection queue has room for the whole
 * packet (the port's credits). Leaves: the same message from network_output(net, destination), once its last flit has
 * arrived.
 *
 * Both ports have a latency of one cycle of the core.
 *
 * A topology is one file and one line in topologies.def.
 */
#ifndef SLUICE_NOC_NOC_H
#define SLUICE_NOC_NOC_H

#include "config/config.h"
#include "sim/engine.h"
#include "sim/message.h"
#include "sim/port.h"
#include "stats/stats.h"

enum network_direction { NETWORK_REQUEST, NETWORK_REPLY };

enum { NOC_MAX_VCS = 8, NOC_MAX_ENDPOINTS = 1024 /* on each side */ };

struct noc_config {
    const struct policy *topology;
    int64_t channel_bytes;
    int64_t clock_mhz; /* 0: the core's */
    int64_t vcs;
    int64_t vc_flits;
    int64_t stages, mc_router_cycles;
    bool lookahead;
    int64_t internal_speedup;
    int64_t input_speedup;
    int64_t iterations;
    int64_t link_cycles, long_link_cycles;
    int64_t credit_cycles;
    int64_t injection_packets;
    int64_t ejection_packets;
    int64_t concentration;
    bool bypass;
    int64_t gating_cycles;
};

extern const struct section noc_section;
extern const struct family topology_family;

struct network;

/* What a network is built from: how many endpoints on the two sides and how they are grouped (for hierarchical). */
struct network_shape {
    unsigned l1_endpoints, slices; /* sources and destinations of the request network */
    unsigned clusters;             /* L1 endpoints are grouped evenly: endpoint / (l1_endpoints / clusters) */
    unsigned mcs;                  /* slices are grouped evenly */
};

/* The components on the other side of the ports: who is to be woken. */
struct network_peers {
    const unsigned *l1_component;    /* [l1_endpoints] */
    const unsigned *slice_component; /* [slices] */
};

struct network *network_create(const struct config *config, enum network_direction direction,
                               const struct network_shape *shape, const struct network_peers *peers,
                               struct engine *engine, uint64_t core_khz, struct stats *stats, struct error *err);
void network_destroy(struct network *network);
struct port *network_input(struct network *network, unsigned source);
struct port *network_output(struct network *network, unsigned destination);

/* The routers that a network of this shape has, stage by stage from its sources on, as far as there are any; for what they cost. */
enum { NOC_ROUTER_GROUPS = 2 };
struct router_group {
    const char *name;                  /* before their counters: "noc.request.sm_router" */
    unsigned routers, inputs, outputs; /* inputs and outputs of one router */
    unsigned link_cycles;              /* of the links behind its outputs */
};
unsigned noc_routers(const struct config *config, enum network_direction direction, const struct network_shape *shape,
                     struct router_group group[NOC_ROUTER_GROUPS]);

/* Whether packets of a source for one destination arrive in the order in which they were pushed: where there is just
 * one VC, or nothing that a packet could overtake on. */
bool network_keeps_order(const struct config *config);

/* Whether every flit that went in has come out and every credit is back where it started. Otherwise a sentence in
 * `text` says what is not. Meaningful once nothing is due any more. */
bool network_conserved(const struct network *network, char *text, size_t size);

/* Bypass and power gating of MC-routers (ISCA 2019, sections 4.1 and 4.2): input i of every MC-router is wired to its
 * output i and the router powered off. From a cluster one slice of each controller can then be reached, its own, and
 * nothing may be sent elsewhere. Possible in a hierarchical network with as many slices at each controller as clusters.
 * A network whose description says noc.bypass is bypassed from its first cycle on.
 *
 * A command switches all MC-routers of a network, which must be drained: conserved, and with nothing in its inputs. It counts from the
 * cycle in which it was sent; noc.gating_cycles later the network may be used again, and what is pushed before waits in its
 * input. */
struct network_command {
    bool bypass;
};
unsigned network_component(const struct network *network);
/* The port by which the control plane sends commands, with a latency of one cycle. */
void network_connect_control(struct network *network, struct port *commands);
bool noc_can_bypass(const struct config *config); /* its topology has MC-routers */
bool network_can_bypass(const struct network *network);

/* The run is over and what is left only drains: cycles from `now` on are not counted. */
void network_freeze(struct network *network, uint64_t now);

/* Cycles of the core from pushing a packet of `flits` into an idle network until the receiver sees it: what the
 * description adds up to. Exact while network and core share one clock. */
uint64_t network_unloaded_cycles(const struct config *config, const struct network_shape *shape, uint64_t core_khz,
                                 unsigned flits);
/* The same while its MC-routers are bypassed, whatever the description says. */
uint64_t network_bypassed_cycles(const struct config *config, const struct network_shape *shape, uint64_t core_khz,
                                 unsigned flits);

#endif
