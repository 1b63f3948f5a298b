/* The state of the control plane, private to its files. */
#ifndef SLUICE_GPU_CONTROL_STATE_H
#define SLUICE_GPU_CONTROL_STATE_H

#include "gpu/control.h"
#include "gpu/cta_scheduler.h"
#include "gpu/duel.h"
#include "gpu/reconfiguration.h"

enum kernel_phase { KERNEL_NONE, KERNEL_RUNNING, KERNEL_FLUSHING_L1, KERNEL_ENDING };

/* A cluster of CTAs in the machine (cluster.h). CTAs by rank: bits of those that have arrived at its barrier, or ended. */
enum { CLUSTER_CTAS_MAX = 16 };
struct resident_cluster {
    uint64_t first; /* CTA of rank 0 */
    uint32_t arrived, ended;
    uint16_t sm[CLUSTER_CTAS_MAX];
};

struct parked_update {
    unsigned sm;
    struct sm_command command;
};

/* The CTAs of the kernel that runs in a partition. */
struct dispatch {
    void *scheduler_state;
    unsigned *free_slots; /* [all SMs], 0 for those of other partitions */
    uint64_t ctas, started, ended;
    unsigned ctas_per_sm;
    unsigned cluster_ctas; /* 1: no clusters */
    unsigned next_group;   /* SM cluster that gets the next cluster */
    struct resident_cluster *clusters;
    unsigned cluster_count, cluster_room;
    struct parked_update *parked; /* updates of mbarriers that wait for space in the port of their SM */
    unsigned parked_count, parked_room;
};

/* A program's part of the machine. */
struct partition {
    uint8_t program;
    unsigned sms;
    struct dispatch dispatch;
    enum kernel_phase phase;
    uint64_t start_at;  /* first cycle of the kernel */
    unsigned unflushed; /* L1s that have not reported the end of their flush */
    struct llc_organisation *llc;
    uint64_t decide_at; /* next decision of the organisation */
    struct llc_mode mode, wanted;
    bool reconfigure; /* a reconfiguration, or the flush at a kernel's end, is pending */
    bool stopped;     /* the SMs are stopped for a reconfiguration */
};

/* Ports from many senders; only ports with a message are read. */
struct inbox {
    struct port *port; /* [count] */
    unsigned count;
    uint64_t (*pushed)[2]; /* [count / 64]: port_watch */
};

struct control {
    struct engine *engine;
    unsigned component;
    unsigned sms, slices, clusters;
    unsigned l1s; /* L1s that are separate components */
    bool flush_l1, halted;
    uint64_t launch_cycles;
    const struct cta_scheduler_ops *scheduler;
    struct port *sm_commands;                    /* [sms] */
    struct port *l1_commands, *l1_reports;       /* [l1s] */
    struct port *slice_commands, *slice_reports; /* [slices] */
    struct port network_commands[2];             /* request, reply; unused: engine is NULL */
    struct inbox sm_reports, requests;           /* from SMs; from the L1s' endpoints */
    bool dueling;
    struct duel duel;
    uint64_t duel_round_at;                     /* next round of contestants that follow */
    struct port duel_reports[DUEL_CONTESTANTS]; /* from the L1s */
    unsigned programs;
    const uint8_t *program_of; /* [sms] */
    struct partition partition[PROGRAMS_MAX];
    struct reconfiguration reconfiguration;
    struct journal *journal;
    void (*watch)(void *user, const struct cta_event *event); /* may be NULL */
    void *watch_user;
    struct control_stats stats;
};

static inline void control_wake(struct control *control, uint64_t at) {
    engine_wake(control->engine, control->component, at);
}

/* Commands. The ports are deep enough that a push never stalls. */
void control_command_sm(struct control *control, unsigned sm, struct sm_command command, uint64_t now);
void control_command_l1(struct control *control, unsigned l1, struct l1_command command, uint64_t now);
/* Sends the command to all SMs of the partition. */
void control_command_partition(struct control *control, const struct partition *partition, struct sm_command command,
                               uint64_t now);

/* Calls the partition's organisation if it decides at run time. */
void control_decide(struct control *control, struct partition *partition, enum llc_occasion occasion, uint64_t now);
/* Brings the organisation's cycle counters up to `now` while a kernel runs. */
void control_settle_partition(struct partition *partition, uint64_t now);

#endif
