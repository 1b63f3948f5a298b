/* Errors in a description: problem, location and fix. */
#include <sys/stat.h>
#include <unistd.h>

#include "config/made_up.h"
#include "test.h"
/* Reads `text` as a.yaml and compares the error message. */
/* Reads `text` as a.yaml and compares the message. */
static void expect_length(const char *text, size_t length, const char *message, int line) {
    struct config *config = made_up_config();
    struct error err = {0};
    struct test_place place = {__FILE__, line};
    test_check(place, "the text is rejected", !config_read_text(config, "a.yaml", text, length, &err));
    test_check_text(place, "err.text", err.text, message);
    test_check(place, "nothing changed",
               sm_made_up.count > 0 && ((const struct sm_made_up *)config_get(config, &sm_made_up))->count == 4);
    config_destroy(config);
}
#define EXPECT(text, message) expect_length(text, strlen(text), message, __LINE__)

static void expect_set(const char *assignment, const char *message, int line) {
    struct config *config = made_up_config();
    struct error err = {0};
    struct test_place place = {__FILE__, line};
    test_check(place, "the setting is rejected", !config_set(config, assignment, &err));
    test_check_text(place, "err.text", err.text, message);
    config_destroy(config);
}
#define EXPECT_SET(assignment, message) expect_set(assignment, message, __LINE__)

TEST("reports the location of an unknown key and the nearest name") {
    EXPECT("sm:\n  count: 4\nl1:\n  wayz: 4\n", "a.yaml:4:3: unknown key 'wayz' in section 'l1'; did you mean 'ways'?");
    EXPECT("sm: {two-level: {group_warp: 4}}\n",
           "a.yaml:1:18: unknown key 'group_warp' in section 'sm.two-level'; did you mean 'group_warps'?");
    EXPECT("sm: {two-levle: {group_warps: 4}}\n",
           "a.yaml:1:6: unknown key 'two-levle' in section 'sm'; did you mean 'two-level'?");
    EXPECT_SET("l1.wayz=3", "--set l1.wayz=3: unknown key 'wayz' in section 'l1'; did you mean 'ways'?");
}

TEST("lists the known keys if none is close to an unknown key") {
    EXPECT("l1:\n  temperature: 4\n",
           "a.yaml:2:3: unknown key 'temperature' in section 'l1'; known: size_kb, ways, sets, replacement, chance");
    EXPECT("temperature: 4\n", "a.yaml:1:1: unknown section 'temperature'; known: sm, l1, llc");
}

TEST("suggests the full name of a key in the wrong section") {
    EXPECT("sm: {ways: 4}\n", "a.yaml:1:6: unknown key 'ways' in section 'sm'; did you mean 'l1.ways'?");
    EXPECT_SET("count=3", "--set count=3: unknown section 'count'; did you mean 'sm.count'?");
}

TEST("reports the location of an unknown section and the nearest name") {
    EXPECT("sm: {count: 4}\nlcc: {ways: 4}\n", "a.yaml:2:1: unknown section 'lcc'; did you mean 'llc'?");
    EXPECT_SET("smm.count=3", "--set smm.count=3: unknown section 'smm'; did you mean 'sm'?");
}

TEST("reports the expected type and the value found") {
    EXPECT("sm: {count: many}\n", "a.yaml:1:13: sm.count must be an integer, not 'many'");
    EXPECT("sm: {count: 4.0}\n", "sm.count must be an integer, not '4.0'");
    EXPECT("sm: {count: 1_000}\n", "sm.count must be an integer, not '1_000'");
    EXPECT("sm: {count: 0x}\n", "sm.count must be an integer, not '0x'");
    EXPECT("sm: {count: }\n", "sm.count must be an integer, not ''");
    EXPECT("sm: {count: \"4\"}\n", "sm.count must be an integer, not the quoted text \"4\"");
    EXPECT("sm: {count: [4]}\n", "a.yaml:1:13: sm.count must be an integer, not a list");
    EXPECT("sm:\n  count:\n    a: 3\n", "a.yaml:3:5: sm.count must be an integer, not a mapping");
    EXPECT("sm: {ratio: 0x10}\n", "sm.ratio must be a number, not '0x10'");
    EXPECT("sm: {ratio: .nan}\n", "sm.ratio must be a number, not '.nan'");
    EXPECT("sm: {ratio: 1e}\n", "sm.ratio must be a number, not '1e'");
    EXPECT("sm: {ratio: .}\n", "sm.ratio must be a number, not '.'");
    EXPECT("sm: {fast: maybe}\n", "sm.fast must be true or false, not 'maybe'");
    EXPECT("sm: {fast: 2}\n", "sm.fast must be true or false, not '2'");
    EXPECT("sm: {label: \"two\\nlines\"}\n", "sm.label must be a line of text, not 'two?lines'");
    EXPECT("sm: {widths: 4}\n", "sm.widths must be a list of integers, as in [4, 1], not '4'");
    EXPECT("sm: {widths: [4, x]}\n", "a.yaml:1:18: sm.widths[1] must be an integer, not 'x'");
    EXPECT("sm: {widths: [4, [1]]}\n", "a.yaml:1:18: sm.widths[1] must be an integer, not a list");
    EXPECT("sm: {warp_scheduler: [gto]}\n", "sm.warp_scheduler must be the name of a warp scheduler, not a list");
    EXPECT_SET("sm.count=many", "--set sm.count=many: sm.count must be an integer, not 'many'");
}

TEST("reports the range and unit of a value out of range") {
    EXPECT("sm: {count: 0}\n", "a.yaml:1:13: sm.count = 0 is out of range: at least 1, at most 1024 SMs");
    EXPECT("sm: {count: 1025}\n", "sm.count = 1025 is out of range");
    EXPECT("sm: {count: -1}\n", "sm.count = -1 is out of range");
    EXPECT("sm: {count: 99999999999999999999}\n",
           "sm.count = 99999999999999999999 is out of range: at least 1, at most 1024 SMs");
    EXPECT("sm: {ratio: 1e999}\n", "sm.ratio = 1e999 is out of range: at least -10, at most 1000000000");
    EXPECT("sm: {pair: [1, 101]}\n", "a.yaml:1:16: sm.pair[1] = 101 is out of range: at least 0, at most 100");
    EXPECT_SET("sm.count=0", "--set sm.count=0: sm.count = 0 is out of range: at least 1, at most 1024 SMs");
}

TEST("accepts the bounds of a range") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_set(config, "sm.count=1", &err));
    CHECK(config_set(config, "sm.count=1024", &err));
    CHECK(config_set(config, "l1.chance.seed=9223372036854775807", &err));
    CHECK(config_set(config, "l1.chance.seed=-9223372036854775807", &err));
    CHECK(config_set(config, "sm.pair=[0, 100]", &err));
    CHECK_EQ((const char *)err.text, "");
    config_destroy(config);
}

TEST("suggests the nearest policy and lists all for an unknown one") {
    EXPECT(
        "sm: {warp_scheduler: gtoo}\n",
        "a.yaml:1:22: sm.warp_scheduler: no warp scheduler called 'gtoo'; did you mean 'gto'? (known: gto, two-level)");
    EXPECT("llc: {replacement: belady}\n",
           "llc.replacement: no replacement policy called 'belady' (known: lru, chance)");
    EXPECT_SET("sm.warp_scheduler=GTOO", "did you mean 'gto'?");
}

TEST("reports the valid length of a list that is too short or too long") {
    EXPECT("sm: {pair: [1]}\n", "a.yaml:1:12: sm.pair must have exactly 2 elements");
    EXPECT("sm: {pair: [1, 2, 3]}\n", "a.yaml:1:19: sm.pair must have exactly 2 elements");
    char text[512] = "sm:\n  widths: [0";
    for (unsigned i = 0; i < CONFIG_LIST_MAX; i++) strcat(text, ", 1");
    strcat(text, "]\n");
    EXPECT(text, "sm.widths must have 0 to 32 elements");
}

TEST("rejects text that is too long instead of truncating it") {
    char text[CONFIG_TEXT_MAX + 32] = "sm: {label: ";
    for (unsigned i = 0; i < CONFIG_TEXT_MAX; i++) strcat(text, "x");
    strcat(text, "}\n");
    EXPECT(text, "a.yaml:1:13: sm.label must be at most 255 bytes long");
}

TEST("rejects a duplicate key with the line of the first") {
    EXPECT("sm:\n  count: 4\n  fast: no\n  count: 4\n", "a.yaml:4:3: 'count' is given twice; the first is on line 2");
    EXPECT("sm: {count: 4}\nl1: {ways: 4}\nsm: {fast: no}\n",
           "a.yaml:3:1: 'sm' is given twice; the first is on line 1");
    EXPECT("name: a\nname: b\n", "a.yaml:2:1: 'name' is given twice; the first is on line 1");
    EXPECT("sm:\n  two-level: {}\n  two-level: {}\n",
           "a.yaml:3:3: 'sm.two-level' is given twice; the first is on line 2");
}

TEST("treats the same key in a second file as a later layer") {
    struct config *config = made_up_config();
    struct error err = {0};
    for (int i = 0; i < 2; i++) CHECK(config_read_text(config, "a.yaml", "sm: {count: 7}", 14, &err));
    config_destroy(config);
}

TEST("rejects a file that is not a mapping of sections") {
    EXPECT("just text\n", "a.yaml:1:1: expected a mapping of sections (sm: {count: 4}), found a value");
    EXPECT("- 1\n- 2\n", "a.yaml:1:1: expected a mapping of sections (sm: {count: 4}), found a list");
    EXPECT("", "a.yaml:1:1: the file is empty; expected sections (sm, l1, llc)");
    EXPECT("# only a comment\n", "the file is empty");
    EXPECT("---\n...\n", "the file is empty");
    EXPECT("sm: {count: 4}\n---\nsm: {count: 5}\n", "a.yaml:2:1: a second document starts here");
    EXPECT("? [sm]\n: 3\n", "a.yaml:1:3: a key must be a name, not a list");
}

TEST("rejects a section that is not a mapping and accepts an empty one") {
    EXPECT("sm: 3\n", "a.yaml:1:5: 'sm' is a section: write a mapping of its keys (count: ...), not a value");
    EXPECT("sm:\n  - count\n", "'sm' is a section: write a mapping of its keys (count: ...), not a list");
    EXPECT("sm: {two-level: 3}\n", "a.yaml:1:17: 'sm.two-level' is a section");
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(config_read_text(config, "a.yaml", "sm:\n  # count: 3\nl1: {ways: 4}\n", 31, &err));
    CHECK_EQ((const char *)err.text, "");
    config_destroy(config);
}

TEST("rejects a name of a description that is not text") {
    EXPECT("name: [a]\n", "a.yaml:1:7: name must be text, not a list");
    EXPECT("description: {a: b}\n", "a.yaml:1:14: description must be text, not a mapping");
}

TEST("reports the location of a YAML syntax error") {
    EXPECT("sm:\n  widths: [4, 5\n", "a.yaml:3:1: not valid YAML: ");
    EXPECT("sm:\n  count: 4\n ratio: 5\n", "a.yaml:3:2: not valid YAML: ");
    EXPECT("sm: {count: 4\n", "a.yaml:2:1: not valid YAML: ");
    EXPECT("sm:\n\tcount: 4\n", "a.yaml:2:1: not valid YAML: ");
    EXPECT("sm: \"never closed\n", "not valid YAML: ");
    EXPECT_SET("sm.widths=[1", "--set sm.widths=[1: not valid YAML: ");
}

TEST("reports the first invalid byte of a file that is not UTF-8") {
    EXPECT("sm:\n  count: \x01\n", "a.yaml:2:10: not a text file in UTF-8: ");
    EXPECT("sm:\n  label: \xff\n", "a.yaml:2:10: not a text file in UTF-8: ");
    static const char program[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0";
    expect_length(program, sizeof program, "a.yaml:1:1: not a text file in UTF-8: ", __LINE__);
    expect_length("sm: {label: \"a\\0b\"}", 19, "a.yaml:1:13: a value must not contain a NUL character", __LINE__);
}

TEST("rejects anchors, aliases and tags") {
    EXPECT("sm: &core {count: 4}\n", "a.yaml:1:5: anchors (&core) are not supported; write the value out");
    EXPECT("sm: {count: &n 4}\n", "a.yaml:1:13: anchors (&n) are not supported");
    EXPECT("sm: *core\n", "a.yaml:1:5: aliases (*core) are not supported; write the value out");
    EXPECT("sm: {count: !!str 4}\n",
           "a.yaml:1:13: tags (tag:yaml.org,2002:str) are not supported; the type follows from the key");
    EXPECT("sm: {widths: !mine [4]}\n", "tags (!mine) are not supported");
    EXPECT("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "a.yaml:1:1: unknown section 'a'");
}

TEST("rejects a deeply nested, long or huge file with a message") {
    enum { DEEP = 100000, HUGE_SIZE = 2 << 20 };
    char *text = mem_alloc(HUGE_SIZE, 1);
    strcpy(text, "sm: {widths: ");
    memset(text + strlen(text), '[', DEEP);
    EXPECT(text, "a.yaml:1:15: sm.widths[0] must be an integer, not a list");
    memset(text, '[', DEEP);
    EXPECT(text, "expected a mapping of sections");
    memset(text, 0, HUGE_SIZE);
    for (unsigned i = 0; i < DEEP; i++) strcpy(text + 4 * i, "x: \n");
    EXPECT(text, "a.yaml:1:1: unknown section 'x'");
    memset(text, ' ', HUGE_SIZE);
    expect_length(text, HUGE_SIZE, "'a.yaml' is larger than 1024 KiB", __LINE__);
    free(text);
}

TEST("removes control characters from messages") {
    struct config *config = made_up_config();
    struct error err = {0};
    const char *text = "\"\\x1b[31m\": 3\n";
    CHECK(!config_read_text(config, "a.yaml", text, strlen(text), &err));
    CHECK(strchr(err.text, '\x1b') == NULL);
    CHECK_TEXT(err.text, "unknown section '?[31m'");
    err = (struct error){0};
    CHECK(!config_set(config, "sm.count=\x1b[31m", &err));
    CHECK(strchr(err.text, '\x1b') == NULL);
    config_destroy(config);
}

TEST("truncates a long word in a message at a character boundary") {
    char text[400] = "\"a";
    for (unsigned i = 0; i < 60; i++) strcat(text, "\xc3\xa9");
    strcat(text, "\": 3\n");
    EXPECT(text, "\xc3\xa9...'; known: sm, l1, llc");
}

TEST("explains the syntax of a malformed setting") {
    EXPECT_SET("sm.count", "--set sm.count: a setting is written KEY=VALUE, as in --set sm.count=4");
    EXPECT_SET("", "a setting is written KEY=VALUE");
    EXPECT_SET("=4", "--set =4: unknown section ''");
    EXPECT_SET("sm=4", "--set sm=4: 'sm' is a section; set one of its keys, as in --set sm.count=VALUE");
    EXPECT_SET("sm.two-level=8",
               "'sm.two-level' is a section; set one of its keys, as in --set sm.two-level.group_warps=VALUE");
    EXPECT_SET("sm.count.more=4", "unknown key 'count' in section 'sm'");
    EXPECT_SET("sm.count={a: 4}", "sm.count must be an integer, not a mapping");
    EXPECT_SET("sm.count=4\n--- 5", "a second document starts here");
}

TEST("accepts a list, empty text and an equals sign in the value of a setting") {
    struct config *config = made_up_config();
    struct error err = {0};
    const struct sm_made_up *sm = config_get(config, &sm_made_up);
    CHECK(config_set(config, "sm.widths=[]", &err));
    CHECK_EQ(sm->widths.count, 0u);
    CHECK(config_set(config, "sm.widths=[7, 8, 9]", &err));
    CHECK_EQ(sm->widths.value[2], 9);
    CHECK(config_set(config, "sm.label=a=b", &err));
    CHECK_EQ((const char *)sm->label, "a=b");
    CHECK(config_set(config, "sm.label=", &err));
    CHECK_EQ((const char *)sm->label, "");
    CHECK_EQ((const char *)err.text, "");
    config_destroy(config);
}

TEST("names a missing file or a directory with the reason") {
    struct config *config = made_up_config();
    struct error err = {0};
    CHECK(!config_read_file(config, "no/such/x.yaml", &err));
    CHECK_EQ((const char *)err.text, "cannot read 'no/such/x.yaml': No such file or directory");
    err = (struct error){0};
    CHECK(!config_read_file(config, SLUICE_SOURCE_DIR "/tests", &err));
    CHECK_TEXT(err.text, "/tests': Is a directory");
    err = (struct error){0};
    CHECK(!config_read_file(config, "/dev/zero", &err)); /* endless: reading stops at the limit */
    CHECK_TEXT(err.text, "'/dev/zero' is larger than 1024 KiB");
    config_destroy(config);
}

TEST("reads a file by its path, which errors contain") {
    char path[] = "/tmp/sluice-test-XXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    const char *text = "sm:\n  count: 12\n  fast: perhaps\n";
    REQUIRE(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    struct config *config = made_up_config();
    struct error err = {0};
    char expected[100];
    snprintf(expected, sizeof expected, "%s:3:9: sm.fast must be true or false", path);
    CHECK(!config_read_file(config, path, &err));
    CHECK_TEXT(err.text, expected);
    REQUIRE(ftruncate(file, 16) == 0);
    err = (struct error){0};
    CHECK(config_read_file(config, path, &err));
    CHECK_EQ(((const struct sm_made_up *)config_get(config, &sm_made_up))->count, 12);
    close(file);
    unlink(path);
    config_destroy(config);
}
