/* The message between L1, LLC slice and memory controller: one request or its reply, passed by value. It contains no
 * pointers: `tag` identifies the request to its requester and is returned unchanged. */
#ifndef SLUICE_SIM_MESSAGE_H
#define SLUICE_SIM_MESSAGE_H

#include "base/base.h"

enum message_kind {
    MESSAGE_READ,   /* a line or, if it bypasses the L1, some of its sectors */
    MESSAGE_WRITE,  /* writes the sectors in `sectors`; answered by MESSAGE_ACK */
    MESSAGE_ATOMIC, /* performed at the LLC; answered by MESSAGE_DATA */
    MESSAGE_DATA,   /* reply with sectors */
    MESSAGE_ACK,    /* reply without data */
};

enum message_flags {
    MESSAGE_READ_ONLY = 1, /* the kernel only reads this data structure */
    MESSAGE_BRIDGED = 4,   /* a slice's fetch from its mirror, or the reply to it */
    MESSAGE_PARTIAL = 2,   /* a write that leaves bytes of a touched sector unwritten */
};

struct message {
    uint64_t address; /* byte address of the line */
    uint64_t place;   /* address within the slice's memory (struct location, partition); set together with `target` */
    uint32_t tag;
    uint16_t source;   /* requester: L1 endpoint on the network, or slice towards memory */
    uint16_t target;   /* responder: LLC slice */
    uint8_t kind;      /* enum message_kind */
    uint8_t flags;     /* enum message_flags */
    uint8_t sectors;   /* mask of 32 B sectors carried or requested */
    uint8_t program;   /* address space */
    uint8_t conflicts; /* atomics: lanes that access the same word, maximum over the words */
    uint8_t cluster;   /* of the requesting SM */
    uint16_t instr;    /* static instruction, low 16 bits; 0 for a write-back. For replacement policies */
};

_Static_assert(sizeof(struct message) == 32, "two messages per host cache line");

/* Concurrent programs, each with its own address space. */
enum { PROGRAMS_MAX = 2 };

/* Memory address of the line: each program has its own 2 GB. (Programs larger than that share DRAM rows with the other
 * one but never lines, because the program is part of a line's key.) */
static inline uint64_t message_place_in_memory(const struct message *message) {
    enum { PROGRAM_BIT = 31 };
    return message->address ^ (uint64_t)message->program << PROGRAM_BIT;
}

enum { MESSAGE_HEADER_BYTES = 8, SECTOR_BYTES = 32, SECTORS_MAX = 8 /* per line */ };

/* Bytes on a channel: an 8 B header plus 32 B per sector carried (docs/model/README.md, Packets). */
static inline unsigned message_bytes(const struct message *message) {
    bool carries = message->kind == MESSAGE_WRITE || message->kind == MESSAGE_ATOMIC || message->kind == MESSAGE_DATA;
    return MESSAGE_HEADER_BYTES + (carries ? SECTOR_BYTES * (unsigned)__builtin_popcount(message->sectors) : 0);
}

static inline unsigned message_flits(const struct message *message, unsigned channel_bytes) {
    return (message_bytes(message) + channel_bytes - 1) / channel_bytes;
}

#endif
