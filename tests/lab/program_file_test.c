/* Launch files, recordings and SASS traces as programs of runs: contents and paths. */
#include "lab/program_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "config/catalogue.h"
#include "lab/batch.h"
#include "stream/recording.h"
#include "stream/workload.h"
#include "test.h"

#define PTX ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a) { ret; }\n"
#define YAML \
    "ptx: k.ptx\nbuffers: [{name: a, bytes: 4, fill: {kind: file, file: data}}]\n" \
    "launches: [{kernel: k, grid: [1], block: [32], args: [{buffer: a}]}]\n"

static char *temporary(void) {
    char *folder = mem_text("/tmp/sluice-program-XXXXXX");
    REQUIRE(mkdtemp(folder));
    return folder;
}

static void discard(char *folder) {
    char *command = text_format("rm -rf '%s'", folder);
    CHECK_EQ(system(command), 0);
    free(command);
    free(folder);
}

static char *put(const char *folder, const char *name, const char *content) {
    char *path = text_format("%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    REQUIRE(out);
    fputs(content, out);
    REQUIRE(fclose(out) == 0);
    return path;
}

static char *put_launch(const char *folder, const char *name) {
    free(put(folder, "k.ptx", PTX));
    free(put(folder, "data", "1234"));
    return put(folder, name, YAML);
}

/* The content of the file, which must be readable. */
static struct program_file opened(const char *path) {
    struct program_file file;
    struct error err = {0};
    bool good = program_file_open(&file, path, &err);
    if (!good) fprintf(stderr, "%s\n", err.text);
    REQUIRE(good);
    return file;
}

TEST("a word with a directory or an extension is a file") {
    CHECK(program_is_file("a.yaml") && program_is_file("./a") && program_is_file("dir/a.stream"));
    CHECK(!program_is_file("mm") && !program_is_file("mm:small") && !program_is_file("synth:chase"));
}

TEST("the content of a launch file includes its PTX and data, and not its path") {
    char *folder = temporary(), *path = put_launch(folder, "a.yaml"), *other = put_launch(folder, "b.yml");
    struct program_file first = opened(path), same = opened(other);
    CHECK_EQ(first.option, "--launch");
    CHECK_EQ(first.workload, "a");
    CHECK_EQ(same.workload, "b");
    CHECK_EQ(first.content, same.content);
    static const struct {
        const char *name, *content;
    } changes[] = {{"k.ptx", PTX "// changed\n"}, {"data", "1235"}, {"a.yaml", YAML "# changed\n"}};
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        struct error err = {0};
        CHECK(program_file_unchanged(path, first.content, &err));
        free(put(folder, changes[i].name, changes[i].content));
        struct program_file changed = opened(path);
        CHECK(strcmp(changed.content, first.content) != 0);
        CHECK(!program_file_unchanged(path, first.content, &err));
        CHECK_TEXT(err.text, "changed after the command started; rerun the command");
        program_file_release(&changed);
        free(put_launch(folder, "a.yaml"));
    }
    program_file_release(&first);
    program_file_release(&same);
    free(path);
    free(other);
    discard(folder);
}

TEST("a file is absolute, and a link to a launch file names files next to the link") {
    char *folder = temporary(), *path = put_launch(folder, "a.yaml"), *inner = text_format("%s/inner", folder),
         *link_path = text_format("%s/inner/link.yaml", folder),
         *copy = text_format("mkdir '%s' && cp '%s/k.ptx' '%s'", inner, folder, inner);
    REQUIRE(system(copy) == 0);
    free(put(inner, "data", "5678"));
    REQUIRE(symlink(path, link_path) == 0);
    struct program_file direct = opened(path), linked = opened(link_path);
    CHECK_EQ(linked.path, link_path);
    CHECK(strcmp(direct.content, linked.content) != 0);
    program_file_release(&direct);
    program_file_release(&linked);
    free(copy);
    free(link_path);
    free(inner);
    free(path);
    discard(folder);
}

TEST("the content of a recording is that of its bytes") {
    char *folder = temporary(), *path = text_format("%s/a.stream", folder);
    struct program_file file[2];
    for (unsigned i = 0; i < 2; i++) {
        struct error err = {0};
        const char *settings[] = {"workload.ctas=1", i ? "workload.warps=2" : "workload.warps=1",
                                  "workload.iterations=10"};
        struct config *config = config_build(NULL, NULL, settings, 3, &err);
        struct stream_source *source = config ? workload_open(config, "synth:alu", &err) : NULL;
        REQUIRE(source);
        FILE *out = fopen(path, "wb");
        CHECK(recording_write(out, source, "synth:alu", NULL, NULL, NULL, &err));
        fclose(out);
        source->ops->destroy(source);
        config_destroy(config);
        file[i] = opened(path);
        CHECK_EQ(file[i].option, "--trace");
        CHECK_EQ(file[i].workload, "synth:alu");
    }
    CHECK(strcmp(file[0].content, file[1].content) != 0);
    for (unsigned i = 0; i < 2; i++) program_file_release(&file[i]);
    free(path);
    discard(folder);
}

#define TRACE \
    "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n" \
    "-binary version = 70\n-cuda stream id = 0\n-accelsim tracer version = 5\n-enable lineinfo = 0\n#BEGIN_TB\n" \
    "thread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 ffffffff 0 EXIT 0 0 0\n#END_TB\n"

TEST("the content of a trace is that of its command list and of all kernel files, and not its path") {
    char *folder = temporary(), *list = put(folder, "kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n"),
         *one = put(folder, "kernel-1.traceg", TRACE), *two = put(folder, "kernel-2.traceg", TRACE),
         *other = temporary(), *copy = text_format("cp '%s'/* '%s'", folder, other);
    REQUIRE(system(copy) == 0);
    struct program_file file = opened(list), in_folder = opened(folder), copied = opened(other), single = opened(one);
    CHECK_EQ(file.option, "--trace");
    CHECK(file.sass);
    CHECK_EQ(file.workload, strrchr(folder, '/') + 1);
    CHECK_EQ(single.workload, "kernel-1");
    CHECK_EQ(in_folder.path, list);
    CHECK_EQ(in_folder.content, file.content);
    CHECK_EQ(copied.content, file.content);
    CHECK(strcmp(single.content, file.content) != 0);
    const struct {
        const char *name, *content, *before;
    } changes[] = {
        {"kernelslist.g", "kernel-2.traceg\nkernel-1.traceg\n", "kernel-1.traceg\nkernel-2.traceg\n"},
        {"kernel-1.traceg", TRACE "#\n", TRACE},
        {"kernel-2.traceg", TRACE "#\n", TRACE},
    };
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        struct error err = {0};
        CHECK(program_file_unchanged(list, file.content, &err));
        free(put(folder, changes[i].name, changes[i].content));
        CHECK(!program_file_unchanged(list, file.content, &err));
        CHECK_TEXT(err.text, "or a file that it names, changed after the command started; rerun the command");
        free(put(folder, changes[i].name, changes[i].before));
    }
    /* Bytes cannot move from one kernel file to the next. */
    free(put(folder, "kernel-1.traceg", TRACE "#"));
    struct program_file first = opened(list);
    free(put(folder, "kernel-1.traceg", TRACE));
    free(put(folder, "kernel-2.traceg", "#" TRACE));
    struct error err = {0};
    CHECK(!program_file_unchanged(list, first.content, &err));
    program_file_release(&first);
    program_file_release(&file);
    program_file_release(&in_folder);
    program_file_release(&copied);
    program_file_release(&single);
    free(copy);
    free(one);
    free(two);
    free(list);
    discard(other);
    discard(folder);
}

TEST("the header of every kernel of a trace is checked before it runs") {
    char *folder = temporary(), *list = put(folder, "a.g", "kernel-1.traceg\nkernel-2.traceg\n"),
         *one = put(folder, "kernel-1.traceg", TRACE), *two = put(folder, "kernel-2.traceg", "-nregs = 999\n");
    struct program_file file;
    struct error err = {0};
    CHECK(!program_file_open(&file, list, &err));
    CHECK_TEXT(err.text, "kernel-2.traceg:1:");
    free(one);
    free(two);
    free(list);
    discard(folder);
}

TEST("only files can be programs") {
    char *folder = temporary(), *tab = text_format("%s/a\tb.yaml", folder);
    free(put_launch(folder, "a\tb.yaml"));
    const struct {
        const char *path, *part;
    } bad[] = {{folder, "is not a file, and has no kernelslist.g"},
               {tab, "the path has a tab"},
               {"/dev/zero", "/dev/zero is not a file"},
               {"/no/a.yaml", "/no/a.yaml: No such file"}};
    for (unsigned i = 0; i < COUNT_OF(bad); i++) {
        struct program_file file;
        struct error err = {0};
        CHECK(!program_file_open(&file, bad[i].path, &err));
        CHECK_TEXT(err.text, bad[i].part);
    }
    free(tab);
    discard(folder);
}

TEST("a task file keeps the program file of a run") {
    struct batch_run run = {.job = (char *)"a",
                            .option = (char *)"--launch",
                            .path = (char *)"/dir/a b.yaml",
                            .content = (char *)"0123",
                            .title = (char *)"a, shared",
                            .after = -1,
                            .whole = true};
    snprintf(run.identity, sizeof run.identity, "%032x", 7);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    batch_run_write(out, &run);
    fclose(out);
    struct batch_run read;
    REQUIRE(batch_run_read(&read, text));
    CHECK_EQ(read.option, "--launch");
    CHECK_EQ(read.path, "/dir/a b.yaml");
    CHECK_EQ(read.content, "0123");
    CHECK_EQ(read.title, "a, shared");
    CHECK(read.whole);
    batch_run_release(&read);
    free(text);
}
