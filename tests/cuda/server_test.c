/* The device side of a CUDA program: requests over a socket, their replies and errors, and simulated time. */
#include "cuda/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cuda/wire.h"
#include "fixture.h"
#include "host/programs.h"
#include "sim/gpu_config.h"
#include "test.h"

/* A server whose program is a thread of the test. */
struct session {
    struct config *config;
    struct cuda_server *server;
    struct wire wire;
    int server_socket, shared;
    pthread_t reader; /* takes the place of the machine */
};

/* Kernels that fail: `poll` as long as *p is 0, `read_misaligned` by an access of p. */
#define PTX_FAULTS \
    ".visible .entry poll(.param .u64 p) { .reg .b64 %a; .reg .b32 %v; .reg .pred %q; ld.param.u64 %a, [p];\n" \
    "again: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %q, %v, 0; @%q bra again; ret; }\n" \
    ".visible .entry read_misaligned(.param .u64 p) { .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p];\n" \
    "ld.global.u32 %v, [%a]; ret; }\n" \
    ".visible .entry stop(.param .u64 p) { trap; }\n"

/* p[CTA] becomes its rank in the cluster. */
#define PTX_RANK \
    ".visible .entry rank(.param .u64 p) { .reg .b64 %a, %o; .reg .b32 %v, %c; ld.param.u64 %a, [p];\n" \
    "mov.u32 %v, %cluster_ctarank; mov.u32 %c, %ctaid.x; mul.wide.u32 %o, %c, 4; add.u64 %a, %a, %o;\n" \
    "st.global.u32 [%a], %v; ret; }\n"

/* A container with the PTX of programs.h, as nvcc would make it. */
static size_t make_container(uint8_t *bytes) {
    static const char text[] =
        PTX_HEAD ".global .attribute(.managed) .align 4 .u32 counts[32] = {1, 2, 3};\n" PTX_ADD PTX_FAULTS PTX_RANK;
    size_t stored = (sizeof text + 7) / 8 * 8;
    uint64_t head[2 + 8] = {UINT64_C(0x100001BA55ED50), 64 + stored, UINT64_C(0x4001010001), stored};
    head[5] = UINT64_C(75) << 32; /* architecture */
    memcpy(bytes, head, sizeof head);
    memset(bytes + sizeof head, 0, stored);
    memcpy(bytes + sizeof head, text, sizeof text);
    return sizeof head + stored;
}

/* Reads the streams of every kernel, which takes ten cycles each. */
static void *read_kernels(void *user) {
    struct session *session = user;
    struct stream_source *source = cuda_server_source(session->server);
    struct kernel kernel;
    for (uint64_t cycle = 10; source->ops->next_kernel(source, &kernel); cycle += 10) {
        for (uint32_t warp = 0; warp < kernel_ctas(&kernel) * kernel_warps(&kernel); warp++) {
            struct warp_stream stream = {.cta = warp / kernel_warps(&kernel), .warp = warp % kernel_warps(&kernel)};
            source->ops->open(source, &stream);
            do source->ops->refill(source, &stream);
            while (stream.count && stream.instr[stream.count - 1].op != OP_exit);
        }
        cuda_server_kernel_ended(session->server, cycle);
    }
    cuda_server_stop_timing(session->server);
    return NULL;
}

static void session_start(struct session *s, bool functional, uint64_t first, uint64_t last) {
    int pair[2];
    struct error err = {0};
    memset(s, 0, sizeof *s);
    s->config = config_create(config_sections, config_section_count);
    REQUIRE(config_check(s->config, &err));
    s->shared = memfd_create("shared", 0);
    REQUIRE(s->shared >= 0 && ftruncate(s->shared, 1 << 20) == 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    s->server_socket = pair[0];
    wire_open(&s->wire, pair[1]);
    s->server = cuda_server_create(&(struct cuda_options){.name = "test",
                                                          .config = s->config,
                                                          .gpu = "default",
                                                          .socket = pair[0],
                                                          .shared = s->shared,
                                                          .functional = functional,
                                                          .simulated = !functional,
                                                          .first = first,
                                                          .last = last});
    REQUIRE(pthread_create(&s->reader, NULL, read_kernels, s) == 0);
}

static void session_end(struct session *s) {
    close(s->wire.socket);
    pthread_join(s->reader, NULL);
    cuda_server_destroy(s->server);
    close(s->server_socket);
    close(s->shared);
    config_destroy(s->config);
}

/* Sends a request; the reply's payload goes to `out`. */
static struct reply ask(struct session *s, struct request request, const void *payload, void *out, size_t room) {
    struct reply reply;
    char text[256];
    wire_put(&s->wire, &request, sizeof request);
    wire_put(&s->wire, payload, request.bytes);
    wire_flush(&s->wire);
    REQUIRE(wire_get(&s->wire, &reply, sizeof reply));
    REQUIRE(reply.text_bytes < sizeof text && reply.bytes <= room);
    wire_get(&s->wire, text, reply.text_bytes);
    wire_get(&s->wire, out, reply.bytes);
    return reply;
}
#define ASK(session, kind_, ...) ask(session, (struct request){.kind = (kind_), .value = {__VA_ARGS__}}, NULL, NULL, 0)

static uint64_t load(struct session *s) {
    uint8_t container[4096];
    size_t bytes = make_container(container);
    struct reply reply = ask(s, (struct request){.kind = REQUEST_MODULE, .bytes = bytes}, container, NULL, 0);
    CHECK_EQ(reply.error, 0);
    return reply.value[0];
}

/* add<<<1, threads>>>(p, 5) */
static int launch(struct session *s, uint64_t module, uint64_t p, uint64_t threads) {
    uint8_t payload[4 + 8 + 4] = "add";
    uint32_t five = 5;
    memcpy(payload + 4, &p, 8);
    memcpy(payload + 12, &five, 4);
    struct request request = {
        .kind = REQUEST_LAUNCH, .value = {module, 1, 1, 1, threads, 1, 1, 0}, .bytes = sizeof payload};
    return ask(s, request, payload, NULL, 0).error;
}

TEST("allocates, writes, launches, reads and frees") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s);
    struct reply made = ASK(&s, REQUEST_ALLOCATE, 256);
    CHECK_EQ(made.error, 0);
    uint64_t p = made.value[0];
    uint32_t values[64] = {0}, back[64];
    for (uint32_t i = 0; i < 64; i++) values[i] = i;
    struct request write = {.kind = REQUEST_WRITE, .value = {128, 2, 1, p, 128, 0}, .bytes = 256}; /* two rows */
    CHECK_EQ(ask(&s, write, values, NULL, 0).error, 0);
    CHECK_EQ(launch(&s, module, p, 64), 0);
    struct request read = {.kind = REQUEST_READ, .value = {256, 1, 1, p, 256, 256}};
    CHECK_EQ(ask(&s, read, NULL, back, sizeof back).bytes, 256u);
    CHECK(back[0] == 5 && back[63] == 68);
    CHECK_EQ(ASK(&s, REQUEST_FIND, p + 255).value[0], p);
    CHECK_EQ(ASK(&s, REQUEST_FIND, p + 256).value[0], p + 256); /* the variables */
    CHECK_EQ(ASK(&s, REQUEST_FIND, p + 512).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_MEMORY, 0).value[0], 256u);
    CHECK_EQ(ASK(&s, REQUEST_FREE, p + 4).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_FREE, p).value[0], 256u);
    CHECK_EQ(ASK(&s, REQUEST_FREE, p).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_MEMORY, 0).value[0], 0u);
    const struct cuda_launch *launches;
    CHECK_EQ(cuda_server_launches(s.server, &launches), 1u);
    CHECK_EQ((const char *)launches[0].name, "add");
    CHECK(!launches[0].timed && launches[0].warp_instructions == 18);
    session_end(&s);
}

TEST("rejects requests that do not fit, and goes on") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s), p = ASK(&s, REQUEST_ALLOCATE, 256).value[0];
    CHECK_EQ(launch(&s, module, p, 2000), CUDA_INVALID_CONFIGURATION);
    CHECK_EQ(launch(&s, module, p, 0), CUDA_INVALID_CONFIGURATION);
    CHECK_EQ(launch(&s, module + 1, p, 32), CUDA_INVALID_IMAGE);
    struct request other = {.kind = REQUEST_LAUNCH, .value = {module, 1, 1, 1, 32, 1, 1, 0}, .bytes = 4};
    CHECK_EQ(ask(&s, other, "sub", NULL, 0).error, CUDA_INVALID_FUNCTION);
    CHECK_EQ(ask(&s, other, "add", NULL, 0).error, CUDA_INVALID_VALUE); /* without arguments */
    struct request name = {.kind = REQUEST_VARIABLE, .value = {module}, .bytes = 4};
    CHECK_EQ(ask(&s, name, "none", NULL, 0).error, CUDA_INVALID_SYMBOL);
    struct request write = {.kind = REQUEST_WRITE, .value = {256, 2, 1, p, 256, 0}, .bytes = 512};
    CHECK_EQ(ask(&s, write, (uint8_t[512]){0}, NULL, 0).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_FILL, UINT64_MAX, UINT64_MAX, 2, p, 1, 1).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_COPY, 16, 1, 1, p, 16, 0, p + 250, 16, 0).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_ALLOCATE, UINT64_MAX).error, CUDA_OUT_OF_MEMORY);
    CHECK_EQ(ASK(&s, REQUEST_SHARE, SHARED_BYTES, 4096).error, CUDA_OUT_OF_MEMORY);
    CHECK_EQ(launch(&s, module, p, 32), 0);
    CHECK_EQ(ASK(&s, REQUEST_WAIT, 0).error, 0);
    session_end(&s);
}

TEST("a fault is the error of all later requests") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s);
    CHECK_EQ(launch(&s, module, 4096, 32), 0); /* executed after the reply */
    CHECK_EQ(ASK(&s, REQUEST_WAIT, 0).error, CUDA_ILLEGAL_ADDRESS);
    CHECK_EQ(ASK(&s, REQUEST_ALLOCATE, 16).error, CUDA_ILLEGAL_ADDRESS);
    CHECK_EQ(launch(&s, module, 4096, 32), CUDA_ILLEGAL_ADDRESS);
    session_end(&s);
}

TEST("the error of a fault follows from its kind, whatever the kernel is called") {
    static const struct {
        const char *kernel;
        uint64_t address; /* 0: of a buffer of zeros */
        int error;
    } faults[] = {
        {"poll", 0, CUDA_TIMEOUT},
        {"read_misaligned", 4096, CUDA_ILLEGAL_ADDRESS},
        {"read_misaligned", 4097, CUDA_MISALIGNED},
        {"stop", 4096, CUDA_LAUNCH_FAILURE},
    };
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct session s;
        session_start(&s, true, 0, 0);
        uint64_t module = load(&s), p = ASK(&s, REQUEST_ALLOCATE, 256).value[0];
        uint8_t payload[32] = {0};
        size_t name = strlen(faults[i].kernel) + 1;
        memcpy(payload, faults[i].kernel, name);
        memcpy(payload + name, faults[i].address ? &faults[i].address : &p, 8);
        struct request request = {
            .kind = REQUEST_LAUNCH, .value = {module, 1, 1, 1, 32, 1, 1, 0}, .bytes = name + sizeof p};
        CHECK_EQ(ask(&s, request, payload, NULL, 0).error, 0);
        CHECK_EQ(ASK(&s, REQUEST_WAIT, 0).error, faults[i].error);
        session_end(&s);
    }
}

TEST("a launch gives the size of clusters") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s), p = ASK(&s, REQUEST_ALLOCATE, 256).value[0];
    uint8_t payload[5 + 8] = "rank";
    memcpy(payload + 5, &p, 8);
    struct request request = {
        .kind = REQUEST_LAUNCH, .value = {module, 8, 1, 1, 1, 1, 1, 0, 0, 4, 1, 1}, .bytes = sizeof payload};
    CHECK_EQ(ask(&s, request, payload, NULL, 0).error, 0);
    uint32_t ranks[8];
    struct request read = {.kind = REQUEST_READ, .value = {32, 1, 1, p, 32, 32}};
    CHECK_EQ(ask(&s, read, NULL, ranks, sizeof ranks).error, 0);
    for (uint32_t i = 0; i < 8; i++) CHECK_EQ(ranks[i], i % 4);
    request.value[LAUNCH_CLUSTER] = 3; /* does not divide the grid */
    CHECK_EQ(ask(&s, request, payload, NULL, 0).error, CUDA_INVALID_CLUSTER);
    request.value[LAUNCH_CLUSTER] = UINT64_C(4) + (UINT64_C(1) << 32);
    CHECK_EQ(ask(&s, request, payload, NULL, 0).error, CUDA_INVALID_CLUSTER);
    session_end(&s);
}

TEST("memory is shared with the program at the same address") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s);
    CHECK_EQ(ASK(&s, REQUEST_SHARE, 4096, 256).error, 0);
    uint32_t *view = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, s.shared, 0);
    REQUIRE(view != MAP_FAILED);
    view[1024 + 7] = 100;
    CHECK_EQ(launch(&s, module, SHARED_ADDRESS + 4096, 32), 0);
    CHECK_EQ(ASK(&s, REQUEST_WAIT, 0).error, 0);
    CHECK_EQ(view[1024 + 7], 105u);
    munmap(view, 8192);
    session_end(&s);
}

TEST("variables of a module are shared with the program if it asks before they are used") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s);
    CHECK_EQ(ASK(&s, REQUEST_MANAGED, module + 1, 4096).error, CUDA_INVALID_IMAGE);
    CHECK_EQ(ASK(&s, REQUEST_MANAGED, module, SHARED_BYTES + 4096).error, CUDA_INVALID_VALUE);
    struct reply placed = ASK(&s, REQUEST_MANAGED, module, 4096);
    CHECK_EQ(placed.error, 0);
    CHECK(placed.value[0] >= 128);
    struct request name = {.kind = REQUEST_VARIABLE, .value = {module}, .bytes = 6};
    struct reply counts = ask(&s, name, "counts", NULL, 0);
    CHECK_EQ(counts.value[0], SHARED_ADDRESS + 4096);
    uint32_t *view = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, s.shared, 4096);
    REQUIRE(view != MAP_FAILED);
    CHECK(view[0] == 1 && view[2] == 3 && view[3] == 0);
    view[31] = 100;
    CHECK_EQ(launch(&s, module, counts.value[0], 32), 0);
    CHECK_EQ(ASK(&s, REQUEST_WAIT, 0).error, 0);
    CHECK(view[0] == 6 && view[31] == 105);
    CHECK_EQ(ASK(&s, REQUEST_FREE, counts.value[0]).error, CUDA_INVALID_VALUE);
    CHECK_EQ(ASK(&s, REQUEST_MANAGED, module, 8192).error, CUDA_INVALID_IMAGE); /* loaded already */
    munmap(view, 4096);
    session_end(&s);
}

TEST("the time of an event is the end of the last timed launch before it, in nanoseconds") {
    struct session s;
    session_start(&s, false, 2, 3);
    uint64_t module = load(&s), p = ASK(&s, REQUEST_ALLOCATE, 256).value[0];
    for (unsigned i = 0; i < 4; i++) CHECK_EQ(launch(&s, module, p, 64), 0);
    double cycle_ns = 1e6 / (double)gpu_core_khz(s.config);
    static const uint64_t cycles[] = {0,  0,  10,
                                      20, 20, 20}; /* of the first 0, 1, ... launches; the fifth does not exist */
    for (unsigned i = 0; i < 6; i++) {
        struct reply reply = ASK(&s, REQUEST_TIME, i);
        CHECK_EQ(reply.error, 0);
        CHECK_EQ(reply.value[0], (uint64_t)((double)cycles[i] * cycle_ns + 0.5));
    }
    session_end(&s);
}

TEST("without timing, the time of an event is that of its instructions") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s), p = ASK(&s, REQUEST_ALLOCATE, 4096).value[0];
    for (unsigned i = 0; i < 2; i++) CHECK_EQ(launch(&s, module, p, 1024), 0);
    double cycle_ns = 1e6 / (double)gpu_core_khz(s.config), instructions = 2 * 32 * 9;
    CHECK_EQ(ASK(&s, REQUEST_TIME, 2).value[0], (uint64_t)(instructions / gpu_sms(s.config) * cycle_ns + 0.5));
    session_end(&s);
}

TEST("describes kernels, and their occupancy") {
    struct session s;
    session_start(&s, true, 0, 0);
    uint64_t module = load(&s);
    struct {
        struct function_facts facts;
        struct parameter_facts parameters[2];
    } got;
    struct request ask_function = {.kind = REQUEST_FUNCTION, .value = {module}, .bytes = 3};
    CHECK_EQ(ask(&s, ask_function, "add", &got, sizeof got).bytes, sizeof got);
    CHECK(got.facts.parameters == 2 && got.facts.max_threads == 1024 && got.facts.ptx_architecture == 70);
    CHECK(got.parameters[0].bytes == 8 && got.parameters[1].offset == 8 && got.parameters[1].bytes == 4);
    struct device_facts device;
    struct request ask_device = {.kind = REQUEST_DEVICE};
    CHECK_EQ(ask(&s, ask_device, NULL, &device, sizeof device).bytes, sizeof device);
    CHECK_EQ(device.sms, gpu_sms(s.config));
    CHECK_EQ((const char *)device.name, "Sluice default");
    struct request occupancy = {.kind = REQUEST_OCCUPANCY, .value = {module, 1, 1, 1, 1024, 1, 1, 0}, .bytes = 3};
    CHECK_EQ(ask(&s, occupancy, "add", NULL, 0).value[0], device.threads_per_sm / 1024);
    occupancy.value[LAUNCH_SHARED] = device.shared_bytes_per_sm + 1;
    CHECK_EQ(ask(&s, occupancy, "add", NULL, 0).value[0], 0u);
    session_end(&s);
}

TEST("an unknown request ends the connection") {
    struct session s;
    session_start(&s, true, 0, 0);
    struct request request = {.kind = REQUEST_KINDS};
    struct reply reply;
    wire_put(&s.wire, &request, sizeof request);
    wire_flush(&s.wire);
    pthread_join(s.reader, NULL); /* the program has ended */
    shutdown(s.server_socket, SHUT_RDWR);
    CHECK(!wire_get(&s.wire, &reply, sizeof reply));
    REQUIRE(pthread_create(&s.reader, NULL, read_kernels, &s) == 0); /* for session_end */
    session_end(&s);
}
