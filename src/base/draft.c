#include "base/draft.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* One list per process, like its files. The lock: a program's thread and the machine's may create files. */
static struct draft *drafts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void draft_list(struct draft *draft, const char *path) {
    pthread_mutex_lock(&lock);
    *draft = (struct draft){.path = path, .owner = getpid(), .next = drafts, .link = &drafts};
    if (drafts) drafts->link = &draft->next;
    drafts = draft;
    pthread_mutex_unlock(&lock);
}

void draft_unlist(struct draft *draft) {
    if (!draft->path) return;
    pthread_mutex_lock(&lock);
    *draft->link = draft->next;
    if (draft->next) draft->next->link = draft->link;
    *draft = (struct draft){0};
    pthread_mutex_unlock(&lock);
}

void drafts_remove(void) {
    pthread_mutex_lock(&lock);
    for (const struct draft *draft = drafts; draft; draft = draft->next)
        if (draft->owner == getpid()) remove(draft->path); /* a fork has the list of its parent */
    drafts = NULL;
    pthread_mutex_unlock(&lock);
}
