#include "cli/decisions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "cli/report.h"

/* The text with `#` replaced by the mechanism's length. */
static char *with_length(const char *text, const struct journal_mechanism *mechanism) {
    const char *at = strchr(text, '#');
    if (!at) return mem_text(text);
    return text_format("%.*s%s%s%s%s", (int)(at - text), text, grouped(mechanism->length).text,
                       mechanism->unit ? " " : "", mechanism->unit ? mechanism->unit : "", at + 1);
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static struct decision_row *row_of(struct mechanism_summary *summary, const char *decision, const char *reason,
                                   uint64_t cycle) {
    char *text = with_length(reason, &summary->mechanism);
    for (unsigned i = 0; i < summary->rows; i++)
        if (same_text(summary->row[i].decision, decision) && same_text(summary->row[i].reason, text)) {
            free(text);
            return &summary->row[i];
        }
    summary->row = mem_grow(summary->row, summary->rows + 1, sizeof *summary->row);
    struct decision_row *row = &summary->row[summary->rows++];
    *row = (struct decision_row){.decision = decision, .reason = text, .first = cycle, .last = cycle};
    return row;
}

static double input_of(const struct journal_entry *entry, const char *name) {
    for (unsigned i = 0; name && !entry->unmeasured && i < entry->count; i++)
        if (strcmp(entry->input[i].name, name) == 0) return entry->input[i].value;
    return NAN;
}

static void add_mode(struct mechanism_summary *summary, const char *mode, uint64_t cycles) {
    unsigned i = 0;
    while (i < summary->modes && strcmp(summary->mode[i].mode, mode) != 0) i++;
    if (i == summary->modes) {
        summary->mode = mem_grow(summary->mode, summary->modes + 1, sizeof *summary->mode);
        summary->mode[summary->modes++] = (struct mode_row){mode, 0};
    }
    summary->mode[i].cycles += cycles;
}

/* Decisions of equal frequency in the order of their first one. */
static int more_frequent(const void *a, const void *b) {
    const struct decision_row *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return strcmp(x->reason, y->reason);
}

static void add_entries(struct mechanism_summary *summary, const struct journal *journal, uint64_t cycles) {
    const char *mode = summary->mechanism.mode;
    uint64_t since = 0;
    for (unsigned i = 0; i < journal->count; i++) {
        const struct journal_entry *entry = &journal->entries[i];
        if (entry->program != summary->program || !same_text(entry->mechanism, summary->mechanism.name)) continue;
        struct decision_row *row = row_of(summary, entry->decision, entry->reason, entry->cycle);
        for (unsigned k = 0; k < JOURNAL_SHOWN; k++)
            row->mean[k] += (input_of(entry, summary->mechanism.shown[k]) - row->mean[k]) / (double)(row->count + 1);
        row->count++;
        row->last = entry->cycle;
        if (!mode || strcmp(entry->decision, mode) == 0) continue;
        add_mode(summary, mode, entry->cycle - since);
        since = entry->cycle;
        mode = entry->decision;
        if (summary->changes < DECISIONS_CHANGES) {
            summary->change_cycle[summary->changes] = since;
            summary->change_mode[summary->changes] = mode;
        }
        summary->changes++;
    }
    if (mode) add_mode(summary, mode, cycles > since ? cycles - since : 0);
}

static void add_tallies(struct mechanism_summary *summary, const struct journal *journal) {
    for (unsigned i = 0; i < journal->tally_count; i++) {
        const struct journal_tally *tally = &journal->tallies[i];
        if (tally->program != summary->program || !same_text(tally->mechanism, summary->mechanism.name)) continue;
        struct decision_row *row = row_of(summary, tally->decision, tally->reason, tally->first);
        for (unsigned k = 0; k < JOURNAL_SHOWN; k++) row->mean[k] = NAN;
        row->count += tally->count;
        row->last = max_u64(row->last, tally->last);
    }
}

struct decisions decisions_of(const struct journal *journal, unsigned programs, uint64_t cycles) {
    struct decisions decisions = {.programs = programs};
    decisions.summary = mem_alloc(journal->mechanism_count * programs + 1, sizeof *decisions.summary);
    for (unsigned i = 0; i < journal->mechanism_count; i++)
        for (unsigned program = 0; program < programs; program++) {
            struct mechanism_summary *summary = &decisions.summary[decisions.count++];
            *summary = (struct mechanism_summary){.mechanism = journal->mechanisms[i], .program = program};
            add_entries(summary, journal, cycles);
            add_tallies(summary, journal);
            if (summary->rows)
                qsort(summary->row, summary->rows, sizeof *summary->row, more_frequent);
            else
                summary->undecided = with_length(summary->mechanism.undecided, &summary->mechanism);
        }
    return decisions;
}

void decisions_release(struct decisions *decisions) {
    for (unsigned i = 0; i < decisions->count; i++) {
        struct mechanism_summary *summary = &decisions->summary[i];
        for (unsigned k = 0; k < summary->rows; k++) free(summary->row[k].reason);
        free(summary->row);
        free(summary->mode);
        free(summary->undecided);
    }
    free(decisions->summary);
    *decisions = (struct decisions){0};
}

/* --- text --- */

static void write_means(FILE *out, const struct mechanism_summary *summary, const struct decision_row *row) {
    const char *lead = row->count > 1 ? " (on average " : " (";
    for (unsigned k = 0; k < JOURNAL_SHOWN; k++) {
        if (isnan(row->mean[k])) continue;
        fputs(lead, out);
        for (const char *c = summary->mechanism.shown[k]; *c; c++) fputc(*c == '_' ? ' ' : *c, out);
        fprintf(out, row->mean[k] < 100 ? " %.3g" : " %.0f", row->mean[k]);
        lead = ", ";
    }
    if (lead[0] == ',') fputc(')', out);
}

static void write_modes(FILE *out, const struct mechanism_summary *summary, uint64_t cycles) {
    fputs("    mode: ", out);
    if (summary->changes == 0)
        fprintf(out, "%s for the whole run", summary->mode[0].mode);
    else if (summary->changes <= DECISIONS_CHANGES) {
        fputs(summary->mechanism.mode, out);
        for (unsigned i = 0; i < summary->changes; i++)
            fprintf(out, ", %s from cycle %s", summary->change_mode[i], grouped(summary->change_cycle[i]).text);
    } else {
        for (unsigned i = 0; i < summary->modes; i++)
            fprintf(out, "%s%s %.1f %%", i ? ", " : "", summary->mode[i].mode,
                    100 * ratio((double)summary->mode[i].cycles, (double)cycles));
        fprintf(out, " of the cycles; %s changes", grouped(summary->changes).text);
    }
    fputc('\n', out);
}

static void write_row(FILE *out, const struct mechanism_summary *summary, const struct decision_row *row) {
    fprintf(out, "    %s, ", row->decision ? row->decision : "no decision");
    if (row->count == 1)
        fputs("once", out);
    else
        fprintf(out, "%s times", grouped(row->count).text);
    fprintf(out, ": %s", row->reason);
    write_means(out, summary, row);
    fputc('\n', out);
}

static void write_summary(FILE *out, const struct mechanism_summary *summary) {
    enum { ROWS = 5 };
    uint64_t rest = 0, cycles = 0;
    for (unsigned i = 0; i < summary->modes; i++) cycles += summary->mode[i].cycles;
    if (summary->undecided) fprintf(out, "    no decision: %s\n", summary->undecided);
    for (unsigned i = 0; i < summary->rows; i++) {
        if (i < ROWS)
            write_row(out, summary, &summary->row[i]);
        else
            rest += summary->row[i].count;
    }
    if (rest) fprintf(out, "    %s decisions for %u other reasons\n", grouped(rest).text, summary->rows - ROWS);
    if (summary->modes) write_modes(out, summary, cycles);
}

void decisions_write(FILE *out, const struct decisions *decisions, const char *design, const char *const *programs) {
    for (unsigned i = 0; i < decisions->count; i++) {
        const struct mechanism_summary *summary = &decisions->summary[i];
        bool several = decisions->programs > 1;
        report_title(out, "decisions of %s%s%s%s%s", summary->mechanism.name, design ? ", design " : "",
                     design ? design : "", several ? ", for " : "", several ? programs[summary->program] : "");
        write_summary(out, summary);
    }
}

/* --- JSON --- */

static void put_rows(struct json *json, const struct mechanism_summary *summary) {
    json_key(json, "decisions");
    json_array(json);
    for (unsigned i = 0; i < summary->rows; i++) {
        const struct decision_row *row = &summary->row[i];
        json_object_compact(json);
        json_put_text(json, "decision", row->decision ? row->decision : "none");
        json_put_text(json, "reason", row->reason);
        json_put_unsigned(json, "count", row->count);
        json_put_unsigned(json, "first_cycle", row->first);
        json_put_unsigned(json, "last_cycle", row->last);
        for (unsigned k = 0; k < JOURNAL_SHOWN; k++)
            if (!isnan(row->mean[k])) json_put_real(json, summary->mechanism.shown[k], row->mean[k]);
        json_end(json);
    }
    json_end(json);
}

static void put_modes(struct json *json, const struct mechanism_summary *summary) {
    json_put_unsigned(json, "changes", summary->changes);
    json_key(json, "modes");
    json_array(json);
    for (unsigned i = 0; i < summary->modes; i++) {
        json_object_compact(json);
        json_put_text(json, "mode", summary->mode[i].mode);
        json_put_unsigned(json, "cycles", summary->mode[i].cycles);
        json_end(json);
    }
    json_end(json);
}

void decisions_put(struct json *json, const struct decisions *decisions) {
    if (decisions->count == 0) return;
    json_key(json, "mechanisms");
    json_array(json);
    for (unsigned i = 0; i < decisions->count; i++) {
        const struct mechanism_summary *summary = &decisions->summary[i];
        json_object(json);
        json_put_text(json, "mechanism", summary->mechanism.name);
        if (decisions->programs > 1) json_put_unsigned(json, "program", summary->program);
        if (summary->undecided) json_put_text(json, "no_decision", summary->undecided);
        put_rows(json, summary);
        if (summary->modes) put_modes(json, summary);
        json_end(json);
    }
    json_end(json);
}
