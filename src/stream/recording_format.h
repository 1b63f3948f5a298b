/* Shared by the writer and the reader of recordings: marks at both ends, encoding of numbers in frames. */
#ifndef SLUICE_STREAM_RECORDING_FORMAT_H
#define SLUICE_STREAM_RECORDING_FORMAT_H

#include "stream/pack.h"
#include "stream/recording.h"

#define RECORDING_HEAD "sluice stream\n"
#define RECORDING_FOOT "stream end\n"

/* What a kernel uses, in one number with the CTAs of a cluster (0: none). */
enum { RECORDING_ATOMICS = 1, RECORDING_TENSOR = 2, RECORDING_COOPERATIVE = 4, RECORDING_CLUSTER_SHIFT = 8 };

enum {
    RECORDING_HEAD_BYTES = sizeof RECORDING_HEAD - 1 + 1,
    RECORDING_FOOT_BYTES = 16 + sizeof RECORDING_FOOT - 1,
    CHUNK_BYTES = 8192,
    CHUNK_MOST_BYTES = CHUNK_BYTES + PACK_RECORD_BYTES,
};

#endif
