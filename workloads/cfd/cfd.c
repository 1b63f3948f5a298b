/* Euler equations on an unstructured mesh. The mesh is a diamond lattice, whose sites have four neighbours in
 * directions that sum to zero, like the faces of a tetrahedron; numbers are shuffled within windows, so that neighbours
 * are close but unordered. */
#include "work.h"

WORK_PTX(cfd, "cfd/cfd.ptx");

enum { VARIABLES = 5, NEIGHBOURS = 4, AXES = 3, THREADS = 192, WINDOW = 1024, BODY = -1, FAR = -2, STEPS = 3 };
enum { DENSITY, MOMENTUM, ENERGY = 4 };

#define GAMMA 1.4

/* Arrays of n elements: the k-th value of element i is at i + k * n. */
struct mesh {
    int64_t n; /* a multiple of the CTA size */
    uint64_t neighbours, normals, areas, variables, old, fluxes, factors;
    int32_t *host_neighbours;
    float *host_normals, *host_areas, *host_variables, *host_old, *host_far;
};

/* --- the mesh --- */

/* Site 2 c is connected to site 2 c + 1 and to those of preceding cells along each axis; 2 c + 1 to following. */
static int64_t joined(int64_t site, int64_t cells, int k) {
    int64_t side = (int64_t)cbrt((double)cells), along[] = {0, 1, side, side * side};
    int64_t cell = site / 2, to = site % 2 ? cell + along[k] : cell - along[k];
    bool leaves = to < 0 || to >= cells || (k == 1 && to / side != cell / side) ||
                  (k == 2 && to / (side * side) != cell / (side * side));
    return !leaves ? 2 * to + 1 - site % 2 : k == 3 && site % 2 == 0 ? BODY : FAR;
}

static void mesh_elements(struct work *work, struct mesh *mesh, int64_t elements) {
    static const float direction[NEIGHBOURS][AXES] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
    int32_t *number = mem_alloc((size_t)elements, sizeof *number); /* of a site */
    for (int64_t i = 0; i < elements; i++) number[i] = (int32_t)i;
    for (int64_t i = 0; i < elements; i++) {
        int64_t window = elements - i < WINDOW - i % WINDOW ? elements - i : WINDOW - i % WINDOW;
        int64_t other = i + work_below(work, (uint32_t)window);
        int32_t spare = number[i];
        number[i] = number[other], number[other] = spare;
    }
    for (int64_t site = 0; site < elements; site++) {
        int64_t i = number[site];
        mesh->host_areas[i] = work_between(work, 0.9f, 1.1f);
        for (int k = 0; k < NEIGHBOURS; k++) {
            int64_t to = joined(site, elements / 2, k);
            mesh->host_neighbours[i + k * mesh->n] = to < 0 ? (int32_t)to : number[to];
            for (int axis = 0; axis < AXES; axis++)
                mesh->host_normals[i + (k + axis * NEIGHBOURS) * mesh->n] =
                    (site % 2 ? -0.1f : 0.1f) * direction[k][axis];
        }
    }
    free(number);
}

/* The last CTA is padded with copies of the last element. */
static void pad(void *array, int64_t elements, int64_t n, int rows) {
    int32_t *words = array;
    for (int64_t k = 0; k < rows; k++)
        for (int64_t i = elements; i < n; i++) words[i + k * n] = words[elements - 1 + k * n];
}

static struct mesh mesh_new(struct work *work, int64_t elements) {
    struct mesh mesh = {.n = blocks_of(elements, THREADS) * (int64_t)THREADS};
    int64_t n = mesh.n;
    mesh.host_neighbours = WORK_NEW(work, int32_t, n * NEIGHBOURS, &mesh.neighbours);
    mesh.host_normals = WORK_NEW(work, float, n *NEIGHBOURS *AXES, &mesh.normals);
    mesh.host_areas = WORK_NEW(work, float, n, &mesh.areas);
    mesh.host_variables = WORK_NEW(work, float, n *VARIABLES, &mesh.variables);
    mesh.host_old = WORK_NEW(work, float, n *VARIABLES, &mesh.old);
    uint64_t far_bytes, far_field = host_symbol(work->host, "cfd_far_field", &far_bytes);
    mesh.host_far = work_view(work, far_field, VARIABLES * sizeof *mesh.host_far);
    mesh.fluxes = work_alloc(work, (uint64_t)(n * VARIABLES) * sizeof(float));
    mesh.factors = work_alloc(work, (uint64_t)n * sizeof(float));
    /* air at 1.2 times the speed of sound along x, slightly disturbed */
    static const float far[VARIABLES] = {1.4f, 1.4f * 1.2f, 0, 0, 2.5f + 0.7f * 1.44f};
    memcpy(mesh.host_far, far, sizeof far);
    mesh_elements(work, &mesh, elements);
    for (int v = 0; v < VARIABLES; v++)
        for (int64_t i = 0; i < elements; i++)
            mesh.host_variables[i + v * n] = far[v] + work_between(work, -0.05f, 0.05f);
    pad(mesh.host_neighbours, elements, n, NEIGHBOURS);
    pad(mesh.host_normals, elements, n, NEIGHBOURS * AXES);
    pad(mesh.host_areas, elements, n, 1);
    pad(mesh.host_variables, elements, n, VARIABLES);
    return mesh;
}

/* --- the reference: the same equations in double precision --- */

struct state {
    double value[VARIABLES], speed, pressure, sound;
};

static struct state state_of(const double *values, int64_t i, int64_t n) {
    struct state s;
    for (int v = 0; v < VARIABLES; v++) s.value[v] = values[i + v * n];
    double square = 0;
    for (int axis = 0; axis < AXES; axis++) square += pow(s.value[MOMENTUM + axis] / s.value[DENSITY], 2);
    s.speed = sqrt(square);
    s.pressure = (GAMMA - 1) * (s.value[ENERGY] - 0.5 * s.value[DENSITY] * square);
    s.sound = sqrt(GAMMA * s.pressure / s.value[DENSITY]);
    return s;
}

/* Adds `weight` times the flux through a face with the normal. */
static void flow_through(double *flux, const struct state *s, const double *normal, double weight) {
    double through = 0;
    for (int axis = 0; axis < AXES; axis++) through += normal[axis] * s->value[MOMENTUM + axis] / s->value[DENSITY];
    flux[DENSITY] += weight * through * s->value[DENSITY];
    flux[ENERGY] += weight * through * (s->value[ENERGY] + s->pressure);
    for (int axis = 0; axis < AXES; axis++)
        flux[MOMENTUM + axis] += weight * (through * s->value[MOMENTUM + axis] + normal[axis] * s->pressure);
}

static void reference_flux(const struct mesh *m, const double *values, const struct state *far, int64_t i,
                           double *flux) {
    struct state mine = state_of(values, i, m->n);
    for (int v = 0; v < VARIABLES; v++) flux[v] = 0;
    for (int k = 0; k < NEIGHBOURS; k++) {
        int32_t to = m->host_neighbours[i + k * m->n];
        double normal[AXES], length = 0;
        for (int axis = 0; axis < AXES; axis++) {
            normal[axis] = (double)m->host_normals[i + (k + axis * NEIGHBOURS) * m->n];
            length += normal[axis] * normal[axis];
        }
        if (to == BODY) {
            for (int axis = 0; axis < AXES; axis++) flux[MOMENTUM + axis] += normal[axis] * mine.pressure;
            continue;
        }
        struct state other = to == FAR ? *far : state_of(values, to, m->n);
        double viscosity = 0.1 * sqrt(length) * (mine.speed + other.speed + mine.sound + other.sound);
        flow_through(flux, &mine, normal, 0.5);
        flow_through(flux, &other, normal, 0.5);
        for (int v = 0; v < VARIABLES && to != FAR; v++) flux[v] -= viscosity * (mine.value[v] - other.value[v]);
    }
}

static void reference_iteration(const struct mesh *m, double *values, double *old, double *fluxes) {
    int64_t n = m->n;
    double far_values[VARIABLES];
    for (int v = 0; v < VARIABLES; v++) far_values[v] = (double)m->host_far[v];
    struct state far = state_of(far_values, 0, 1);
    memcpy(old, values, (size_t)(n * VARIABLES) * sizeof *old);
    for (int step = 1; step <= STEPS; step++) {
        for (int64_t i = 0; i < n; i++) reference_flux(m, values, &far, i, fluxes + i * VARIABLES);
        for (int64_t i = 0; i < n; i++) {
            struct state s = state_of(old, i, n);
            double factor = 0.5 / (sqrt((double)m->host_areas[i]) * (s.speed + s.sound)) / (STEPS + 1 - step);
            for (int v = 0; v < VARIABLES; v++) values[i + v * n] = old[i + v * n] + factor * fluxes[i * VARIABLES + v];
        }
    }
}

static void verify(struct work *work, const struct mesh *m, const float *first, int64_t iterations) {
    int64_t count = m->n * VARIABLES;
    double *values = mem_alloc((size_t)(3 * count), sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = (double)first[i];
    for (int64_t k = 0; k < iterations; k++) reference_iteration(m, values, values + count, values + 2 * count);
    for (int64_t i = 0; i < count && !work->wrong; i++) {
        float expected = (float)values[i];
        /* a few dozen float operations in each of a few steps, on values of about 1 */
        work_expect_f32(work, "variable", &m->host_variables[i], &expected, 1, 1e-4, 1);
    }
    free(values);
}

/* --- */

static void run(struct work *work) {
    int64_t iterations = work->size[1], read_only = work->size[2];
    struct mesh m = mesh_new(work, work->size[0]);
    uint64_t bytes = (uint64_t)(m.n * VARIABLES) * sizeof(float);
    float *first = work_copy(m.host_variables, bytes);
    struct dim grid = DIM((uint32_t)(m.n / THREADS)), block = DIM(THREADS);
    struct host_argument n = HOST_S32((int32_t)m.n);
    for (int64_t i = 0; i < iterations && !host_failed(work->host); i++) {
        memcpy(m.host_old, m.host_variables, bytes);
        WORK_LAUNCH(work, read_only ? "cfd_step_factor_ro" : "cfd_step_factor", grid, block, HOST_U64(m.variables),
                    HOST_U64(m.areas), HOST_U64(m.factors), n);
        for (int32_t step = 1; step <= STEPS; step++) {
            WORK_LAUNCH(work, read_only ? "cfd_flux_ro" : "cfd_flux", grid, block, HOST_U64(m.neighbours),
                        HOST_U64(m.normals), HOST_U64(m.variables), HOST_U64(m.fluxes), n);
            WORK_LAUNCH(work, read_only ? "cfd_time_step_ro" : "cfd_time_step", grid, block, HOST_S32(step),
                        HOST_U64(m.old), HOST_U64(m.variables), HOST_U64(m.factors), HOST_U64(m.fluxes), n);
        }
    }
    if (work->verify) verify(work, &m, first, iterations);
    free(first);
}

static const struct work_size sizes[] = {
    {"tiny", {768, 1, 0}},
    {"small", {50000, 1, 0}},
    {"icc", {97046, 4, 0}},
    {"bypass", {2880, 2, 1}},
};

WORKLOAD(cfd, "cfd", .help = "Euler equations on an unstructured mesh", .parameters = "elements iterations read_only");
