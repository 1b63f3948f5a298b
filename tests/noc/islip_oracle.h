/* iSLIP as its definition says, without any of the representations of src/noc: a matrix of requests, one pointer for
 * each input and output, and loops over all of them.
 *
 * Source: N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM Transactions on Networking
 * 7(2), 1999, section II-C and III:
 *
 *   Request. Each unmatched input sends a request to every output for which it has a queued cell.
 *   Grant.   Each unmatched output that has requests chooses the one that appears next in a fixed round-robin schedule,
 *            starting from the highest-priority element: its grant pointer.
 *   Accept.  Each unmatched input that has grants accepts the one that appears next, starting from its accept pointer.
 *            Both pointers are incremented to one location beyond the other side of the match, modulo the size, if and
 *            only if the grant is accepted in step 3 of the first iteration.
 */
#ifndef SLUICE_TESTS_NOC_ISLIP_ORACLE_H
#define SLUICE_TESTS_NOC_ISLIP_ORACLE_H

#include <stdbool.h>
#include <string.h>

enum { ISLIP_INPUTS = 160, ISLIP_OUTPUTS = 80, ISLIP_NONE = -1 };

struct islip_oracle {
    int inputs, outputs, iterations;
    int grant[ISLIP_OUTPUTS], accept[ISLIP_INPUTS]; /* pointers */
    bool request[ISLIP_INPUTS][ISLIP_OUTPUTS];
    int input_of[ISLIP_OUTPUTS], output_of[ISLIP_INPUTS]; /* the match; ISLIP_NONE */
};

static inline void islip_oracle_iterate(struct islip_oracle *islip, bool first) {
    int granted_input[ISLIP_OUTPUTS];
    for (int output = 0; output < islip->outputs; output++) {
        granted_input[output] = ISLIP_NONE;
        if (islip->input_of[output] != ISLIP_NONE) continue;
        for (int i = islip->inputs - 1; i >= 0; i--) {
            int input = (islip->grant[output] + i) % islip->inputs;
            if (islip->request[input][output] && islip->output_of[input] == ISLIP_NONE) granted_input[output] = input;
        }
    }
    for (int input = 0; input < islip->inputs; input++) {
        int accepted = ISLIP_NONE;
        for (int i = islip->outputs - 1; i >= 0; i--) {
            int output = (islip->accept[input] + i) % islip->outputs;
            if (granted_input[output] == input) accepted = output;
        }
        if (accepted == ISLIP_NONE) continue;
        islip->output_of[input] = accepted;
        islip->input_of[accepted] = input;
        if (!first) continue;
        islip->grant[accepted] = (input + 1) % islip->inputs;
        islip->accept[input] = (accepted + 1) % islip->outputs;
    }
}

/* Matches the requests of this step. */
static inline void islip_oracle_match(struct islip_oracle *islip) {
    for (int input = 0; input < islip->inputs; input++) islip->output_of[input] = ISLIP_NONE;
    for (int output = 0; output < islip->outputs; output++) islip->input_of[output] = ISLIP_NONE;
    for (int i = 0; i < islip->iterations; i++) islip_oracle_iterate(islip, i == 0);
}

#endif
