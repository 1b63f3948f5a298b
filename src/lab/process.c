#include "lab/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

enum { TEXT_MOST = 1 << 20, REPORT_MOST = 160, STATUS_NO_PROGRAM = 127, REPORT_FILE = STDERR_FILENO + 1 };

/* Name of the file of reports, by which the child recognises it. */
#define REPORT_NAME "sluice-progress"

/* In the child: only calls that are safe between fork and exec. The parent may have died before prctl(). */
_Noreturn static void become(char *const *words, const char *folder, enum process_output output, int out, int report,
                             pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(STATUS_NO_PROGRAM);
    setpgid(0, 0); /* only the parent receives Ctrl-C and ends its children */
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(output == PROCESS_EVERYTHING ? out : nothing, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (nothing > STDERR_FILENO) close(nothing);
    if (report == REPORT_FILE)
        fcntl(report, F_SETFD, 0); /* stays open across exec, as after dup2 */
    else if (report >= 0)
        dup2(report, REPORT_FILE);
    signal(SIGPIPE, SIG_DFL);
    if (!folder || chdir(folder) == 0) execvp(words[0], words);
    _exit(STATUS_NO_PROGRAM);
}

bool process_start(struct process *process, char *const *words, const char *folder, enum process_output output,
                   struct error *err) {
    int ends[2];
    *process = (struct process){.report = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return error_set(err, "cannot start %s: %s", words[0], strerror(errno));
    if (output == PROCESS_REPORTS) process->report = memfd_create(REPORT_NAME, MFD_CLOEXEC); /* else: no reports */
    pid_t parent = getpid();
    process->pid = fork();
    if (process->pid == 0) become(words, folder, output, ends[1], process->report, parent);
    close(ends[1]);
    process->pipe = ends[0];
    if (process->pid > 0) return true;
    error_set(err, "cannot start %s: %s", words[0], strerror(errno));
    close(ends[0]);
    if (process->report >= 0) close(process->report);
    return false;
}

bool process_read(struct process *process) {
    char piece[4096];
    ssize_t count = read(process->pipe, piece, sizeof piece);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (process->length + (size_t)count < TEXT_MOST) {
        process->text = mem_grow(process->text, process->length + (size_t)count + 1, 1);
        memcpy(process->text + process->length, piece, (size_t)count);
        process->length += (size_t)count;
        process->text[process->length] = '\0';
    }
    return count > 0;
}

int process_wait(struct process *process) {
    int status = 0;
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

void process_kill(struct process *process) { kill(process->pid, SIGKILL); }

void process_release(struct process *process) {
    close(process->pipe);
    if (process->report >= 0) close(process->report);
    free(process->text);
    *process = (struct process){.report = -1};
}

bool process_last_report(const struct process *process, struct process_report *report) {
    char text[REPORT_MOST];
    ssize_t count = process->report >= 0 ? pread(process->report, text, sizeof text - 1, 0) : -1;
    if (count <= 0) return false;
    text[count] = '\0';
    return sscanf(text, "%lf %" SCNu64 " %" SCNu64 " %" SCNu64 " %lf %lf %lf", &report->share,
                  &report->warp_instructions, &report->thread_instructions, &report->cycles, &report->issuing,
                  &report->l1_hits, &report->llc_hits) == 7;
}

int process_report_file(void) {
    char link[64] = "", path[32];
    static const char name[] = "/memfd:" REPORT_NAME;
    snprintf(path, sizeof path, "/proc/self/fd/%d", REPORT_FILE);
    return readlink(path, link, sizeof link - 1) > 0 && strncmp(link, name, strlen(name)) == 0 ? REPORT_FILE : -1;
}

/* One write, so that the parent reads a whole line. */
void process_report(int file, struct process_report report) {
    char text[REPORT_MOST];
    int length = snprintf(text, sizeof text, "%.6f %" PRIu64 " %" PRIu64 " %" PRIu64 " %.2f %.2f %.2f\n", report.share,
                          report.warp_instructions, report.thread_instructions, report.cycles, report.issuing,
                          report.l1_hits, report.llc_hits);
    ssize_t written = pwrite(file, text, (size_t)length, 0);
    (void)written; /* a missing report only makes an estimate worse */
}

bool process_run(char *const *words, char **text, int *status, struct error *err) {
    struct process process;
    if (!process_start(&process, words, NULL, PROCESS_EVERYTHING, err)) return false;
    while (process_read(&process)) {
    }
    *status = process_wait(&process);
    *text = mem_text(process.text ? process.text : "");
    process_release(&process);
    return true;
}
