/* The timeline of a run as trace events, for the Perfetto UI and Chrome's tracing page: kernels, decisions, CTAs, and over
 * time the stall causes of SMs, caches, networks and DRAM.
 *
 * The file has a size limit. Half of it is for values over time: the length of their intervals doubles as often as the
 * length of the run requires. CTAs are written as far as they fit. */
#ifndef SLUICE_CLI_TIMELINE_H
#define SLUICE_CLI_TIMELINE_H

#include "cli/command.h"
#include "cli/report.h"

struct timeline_options {
    const char *file, *detail;
    uint64_t megabytes;
};

#define TIMELINE_OPTIONS(values, field) \
    {"--timeline", "FILE", OPTION_TEXT, offsetof(struct values, field.file), \
     "write a timeline as JSON trace events, for ui.perfetto.dev or chrome://tracing (docs/timeline.md); `-`: standard" \
     " output, without the summary"}, \
        {"--timeline-detail", "kernels|sms|ctas", OPTION_TEXT, offsetof(struct values, field.detail), \
         "kernels: kernels, decisions and the whole machine over time; sms: also the stall causes of each SM; ctas: also" \
         " every CTA; default: sms"}, \
    { \
        "--timeline-size", "MB", OPTION_COUNT, offsetof(struct values, field.megabytes), \
            "largest size of the timeline in megabytes; default: 32" \
    }

struct timeline;
/* NULL with an error if the options are wrong. Says on standard error how large the file can become. */
struct timeline *timeline_create(const struct timeline_options *options, const struct config *config,
                                 const struct stats *stats, struct error *err);
void timeline_destroy(struct timeline *timeline);
/* Has the machine record what the timeline needs. */
void timeline_ask(struct timeline *timeline, struct run_options *options);
/* As run_options.cta, with a timeline as its user. */
void timeline_cta(struct timeline *timeline, const struct cta_event *event);
bool timeline_write(struct timeline *timeline, const struct run_report *report, struct error *err);

#endif
