/* The interconnection networks between L1 endpoints and LLC slices. Request and reply networks are separate instances,
 * each one component of the engine.
 *
 * Owns:   routers, links, flits in flight, and the credits between routers.
 * Enters: `struct message`, pushed into network_input(net, source), with its destination in message.target (request
 *         network) or message.source (reply network). A push needs space for the whole packet in the injection queue,
 *         that is, a credit of the port. Commands of the control plane to bypass MC-routers.
 * Leaves: the same message, from network_output(net, destination), after its last flit has arrived.
 *
 * Contract: both ports have a latency of one core cycle. No packet is lost or duplicated (network_conserved); packets
 * from one source to one destination stay in order if network_keeps_order.
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

enum { NOC_MAX_VCS = 8, NOC_MAX_VC_FLITS = 512, NOC_MAX_ENDPOINTS = 1024 /* on each side */ };

struct noc_config {
    const struct policy *topology;
    int64_t channel_bytes;
    int64_t clock_mhz; /* 0: core clock */
    int64_t vcs;
    int64_t vc_flits, vc_bytes;
    int64_t stages, mc_router_cycles;
    bool lookahead;
    int64_t internal_speedup;
    int64_t input_speedup;
    int64_t iterations;
    int64_t link_cycles, long_link_cycles;
    int64_t credit_cycles;
    int64_t injection_packets;
    int64_t ejection_packets;
    int64_t concentration, concentrator_cycles;
    bool bypass;
    int64_t gating_cycles;
};

extern const struct section noc_section;
extern const struct family topology_family;

struct network;

/* The number of endpoints on both sides, and how they are grouped (for hierarchical). */
struct network_shape {
    unsigned l1_endpoints, slices; /* sources and destinations of the request network */
    unsigned clusters;             /* L1 endpoints are divided evenly: endpoint / (l1_endpoints / clusters) */
    unsigned mcs;                  /* slices are divided evenly */
};

/* The components at the other end of the ports, to be woken. */
struct network_peers {
    const unsigned *l1_component;    /* [l1_endpoints] */
    const unsigned *slice_component; /* [slices] */
};

struct network *network_create(const struct config *config, enum network_direction direction,
                               const struct network_shape *shape, const struct network_peers *peers,
                               struct engine *engine, uint64_t core_khz, struct stats *stats, struct error *err);
void network_destroy(struct network *network);
struct port *network_input(struct network *network, unsigned source);
/* Packets stay in the network while the gate of its port is closed (port_gate). The ideal network ignores gates. */
struct port *network_output(struct network *network, unsigned destination);

/* Links of one kind. The floor plan is the same for every topology: links between two stages of routers cross the chip,
 * and so do those between the L1 endpoints and a single crossbar. They take noc.long_link_cycles, all others
 * noc.link_cycles. */
struct noc_links {
    bool across;
    unsigned cycles;
};

/* What a flit passes in a network of this shape, starting at its sources, for the energy model: stages of routers, with
 * concentrators before and distributors behind those of a concentrated crossbar; and the links from the sources to the
 * first of them. Returns their number; 0 for a network without routers. */
enum { NOC_ROUTER_GROUPS = 3 };
struct router_group {
    const char *name; /* prefix of their counters: "noc.request.sm_router", or "noc.request" if not ROUTER */
    enum router_kind {
        ROUTER,
        CONCENTRATOR, /* a multiplexer with a buffer for each input and an arbiter */
        DISTRIBUTOR,  /* a demultiplexer */
    } kind;
    unsigned routers, inputs, outputs; /* inputs and outputs of one router */
    struct noc_links links;            /* of the outputs */
};
unsigned noc_routers(const struct config *config, enum network_direction direction, const struct network_shape *shape,
                     struct noc_links *injection, struct router_group group[NOC_ROUTER_GROUPS]);

/* Whether packets from one source to one destination arrive in the order in which they were pushed: with a single VC,
 * or in a topology in which packets cannot overtake each other. */
bool network_keeps_order(const struct config *config);

/* Whether every injected flit has been ejected and every credit has returned; otherwise `text` describes the first
 * violation. To be called when nothing is in flight. */
bool network_conserved(struct network *network, char *text, size_t size);

/* Bypass and power gating of MC-routers (ISCA 2019, sections 4.1 and 4.2): input i of every MC-router is wired to its
 * output i and the router is powered off. A cluster then reaches only its own slice of each controller, and nothing may
 * be sent to others. This needs a hierarchical network with as many slices per controller as clusters. With noc.bypass
 * a network is bypassed from its first cycle on.
 *
 * A command switches all MC-routers of a network, which must be drained: conserved and with empty inputs. It takes
 * effect in the cycle in which it was sent; packets pushed in the next noc.gating_cycles wait in their injection queue.
 */
struct network_command {
    bool bypass;
};
unsigned network_component(const struct network *network);
/* The port over which the control plane sends commands, with a latency of one cycle. */
void network_connect_control(struct network *network, struct port *commands);
bool noc_can_bypass(const struct config *config); /* the topology has MC-routers */
bool network_can_bypass(const struct network *network);

/* The run has ended and the network only drains: cycles from `now` on are not counted. */
void network_freeze(struct network *network, uint64_t now);

/* Zero-load latency of a packet of `flits`, in core cycles from the push until the receiver sees it, computed from the
 * configuration. Exact if network and core share one clock. */
uint64_t network_unloaded_cycles(const struct config *config, const struct network_shape *shape, uint64_t core_khz,
                                 unsigned flits);
/* The same of a message in this network, in its present mode. */
uint64_t network_zero_load_cycles(const struct network *network, const struct config *config,
                                  const struct message *message);

#endif
