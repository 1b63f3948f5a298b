#include "sim/port.h"

#include <stdio.h>
#include <stdlib.h>

void port_init(struct port *port, struct engine *engine, const char *name, unsigned sender, unsigned receiver,
               unsigned capacity, unsigned latency) {
    assert(latency >= 1 && capacity >= 1);
    uint32_t slots = (uint32_t)round_up_power_of_two(capacity);
    *port = (struct port){
        .slot = mem_alloc_lines(slots, sizeof *port->slot),
        .time = mem_alloc_lines(slots, sizeof *port->time),
        .mask = slots - 1,
        .capacity = capacity,
        .latency = latency,
        .reach = latency,
        .head_visible = NEVER,
        .sender = sender,
        .receiver = receiver,
        .wakes = waker_of(engine, receiver),
        .credits = waker_of(engine, sender),
        .engine = engine,
    };
    snprintf(port->name, sizeof port->name, "%s", name);
    engine_add_port(engine, port);
}

void port_lengthen(struct port *port, unsigned delay, unsigned room) {
    assert(port->pushed == 0);
    port->reach = port->latency + delay;
    port->capacity += room;
    uint32_t slots = (uint32_t)round_up_power_of_two(port->capacity);
    port->mask = slots - 1;
    free(port->slot);
    free(port->time);
    port->slot = mem_alloc_lines(slots, sizeof *port->slot);
    port->time = mem_alloc_lines(slots, sizeof *port->time);
}

void port_release(struct port *port) {
    free(port->slot);
    free(port->time);
    *port = (struct port){0};
}
