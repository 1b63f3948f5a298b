#include "lab/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/base.h"
#include "model_digest.h"

/* Each text with its length, so that different lists of texts have different bytes. */
static void add(XXH3_state_t *state, const char *text) {
    uint64_t length = strlen(text);
    XXH3_128bits_update(state, &length, sizeof length);
    XXH3_128bits_update(state, text, length);
}

static void add_number(XXH3_state_t *state, uint64_t number) { XXH3_128bits_update(state, &number, sizeof number); }

static void write_hash(XXH128_hash_t hash, char text[IDENTITY_LENGTH + 1]) {
    snprintf(text, IDENTITY_LENGTH + 1, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

void identity_of(const struct config *effective, const char *job, uint64_t max_insts, uint64_t sample_cycles,
                 const char *sample_units, const char *after, char identity[IDENTITY_LENGTH + 1]) {
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    add(state, identity_model());
    for (unsigned i = 0; i < config_entry_count(effective); i++) {
        struct config_entry entry;
        config_entry_at(effective, i, &entry);
        if (!entry.in_use) continue;
        add(state, entry.key);
        add(state, entry.value);
    }
    add(state, job);
    add_number(state, max_insts);
    add_number(state, sample_cycles);
    add(state, sample_units ? sample_units : "");
    add(state, after ? after : "");
    write_hash(XXH3_128bits_digest(state), identity);
    XXH3_freeState(state);
}

void identity_of_text(const char *text, char identity[IDENTITY_LENGTH + 1]) {
    write_hash(XXH3_128bits(text, strlen(text)), identity);
}

const char *identity_model(void) { return SLUICE_MODEL_DIGEST; }

bool identity_is(const char *text, size_t length) {
    return length == IDENTITY_LENGTH && strspn(text, "0123456789abcdef") >= IDENTITY_LENGTH;
}
