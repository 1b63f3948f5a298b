/* What travels between an L1, an LLC slice and a memory controller: one request or its reply, by value. Nothing points anywhere: `tag` is
 * the requester's own name for the request and comes back untouched. */
#ifndef SLUICE_SIM_MESSAGE_H
#define SLUICE_SIM_MESSAGE_H

#include "base/base.h"

enum message_kind {
    MESSAGE_READ,   /* a line or, past the L1, some of its sectors */
    MESSAGE_WRITE,  /* the sectors in `sectors`; answered by MESSAGE_ACK */
    MESSAGE_ATOMIC, /* performed at the LLC; answered by MESSAGE_DATA */
    MESSAGE_DATA,   /* the reply that carries sectors */
    MESSAGE_ACK,    /* the reply that carries none */
};

enum message_flags {
    MESSAGE_READ_ONLY = 1, /* the program only reads this data structure in this kernel */
    MESSAGE_PARTIAL = 2,   /* a write that leaves bytes of a touched sector unwritten */
};

struct message {
    uint64_t address; /* of the line, in bytes */
    uint64_t place;   /* the same within the memory of its slice (struct location, partition): known with the target */
    uint32_t tag;
    uint16_t source;   /* endpoint that asked: L1 endpoint on the network, or slice towards memory */
    uint16_t target;   /* endpoint that answers: LLC slice */
    uint8_t kind;      /* enum message_kind */
    uint8_t flags;     /* enum message_flags */
    uint8_t sectors;   /* which 32 B sectors of the line carry or want data */
    uint8_t program;   /* address space */
    uint8_t conflicts; /* atomics: lanes that meet on the busiest word */
    uint8_t cluster;   /* of the SM that asked */
    uint16_t instr;    /* static instruction that asked, its lower bits; 0 of a write-back. Replacement may key on it */
};

_Static_assert(sizeof(struct message) == 32, "two messages to a host cache line");

/* Programs that run side by side, each in an address space of its own. */
enum { PROGRAMS_MAX = 2 };

/* Where the message's line lies in memory: each program has 2 GB for itself. (One that goes beyond shares places of rows
 * with the other, though never lines, which are told apart by program.) */
static inline uint64_t message_place_in_memory(const struct message *message) {
    enum { PROGRAM_BIT = 31 };
    return message->address ^ (uint64_t)message->program << PROGRAM_BIT;
}

enum { MESSAGE_HEADER_BYTES = 8, SECTOR_BYTES = 32, SECTORS_MAX = 8 /* of a line */ };

/* Bytes on a channel: a header of 8, and 32 for each sector that travels (docs/model.md, Packets). */
static inline unsigned message_bytes(const struct message *message) {
    bool carries = message->kind == MESSAGE_WRITE || message->kind == MESSAGE_ATOMIC || message->kind == MESSAGE_DATA;
    return MESSAGE_HEADER_BYTES + (carries ? SECTOR_BYTES * (unsigned)__builtin_popcount(message->sectors) : 0);
}

static inline unsigned message_flits(const struct message *message, unsigned channel_bytes) {
    return (message_bytes(message) + channel_bytes - 1) / channel_bytes;
}

#endif
