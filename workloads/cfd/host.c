/* cfd: compressible flow around a body on an unstructured mesh. See README.md. */
#include "host.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCK = 192, FACES = 4, VARIABLES = 5, STAGES = 3, BODY = -1, FAR_AWAY = -2 };

/* Cubes along each axis; each is cut into six tetrahedra. */
static const struct {
    int x, y, z, steps;
} sizes[WL_SIZES] = {{6, 6, 5, 1}, {16, 16, 12, 2}, {28, 28, 21, 6}, {28, 28, 21, 2000}};

struct vec3 {
    double x, y, z;
};

static struct vec3 minus(struct vec3 a, struct vec3 b) {
    return (struct vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double dot(struct vec3 a, struct vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec3 cross(struct vec3 a, struct vec3 b) {
    return (struct vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* ---- mesh ---- */

struct mesh {
    int n, padded;    /* elements, and up to a multiple of the block */
    int *neighbours;  /* [face * padded + element] */
    float *normals;   /* [(axis * FACES + face) * padded + element], inwards, area as length */
    float *areas;     /* square of an element's surface */
    int x, y, z;      /* cubes */
    struct vec3 *at;  /* vertices */
    int (*corner)[4]; /* vertices of each element */
};

/* The body: a plate along the flow, one cube thick, a third of the way across. */
static bool solid(const struct mesh *m, int x, int y, int z) {
    return x >= m->x / 3 && x < m->x - m->x / 3 && y >= m->y / 3 && y < m->y - m->y / 3 && z == m->z / 2;
}

static int vertex(const struct mesh *m, int x, int y, int z) {
    return (z * (m->y + 1) + y) * (m->x + 1) + x;
}

/* Vertices of a regular grid, each moved a little. */
static void make_vertices(struct wl *w, struct mesh *m) {
    m->at = WL_ARRAY(w, struct vec3, vertex(m, m->x, m->y, m->z) + 1);
    for (int z = 0; z <= m->z; z++)
        for (int y = 0; y <= m->y; y++)
            for (int x = 0; x <= m->x; x++)
                m->at[vertex(m, x, y, z)] = (struct vec3){(float)x + wl_random_float(w, -0.15f, 0.15f),
                                                          (float)y + wl_random_float(w, -0.15f, 0.15f),
                                                          (float)z + wl_random_float(w, -0.15f, 0.15f)};
}

/* The tetrahedra of a cube: from its first corner to the opposite one along the axes, in each of six orders.
 */
static void cut_cube(struct mesh *m, int x, int y, int z) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int o = 0; o < 6; o++, m->n++) {
        int p[3] = {x, y, z};
        m->corner[m->n][0] = vertex(m, x, y, z);
        for (int k = 0; k < 3; k++) {
            p[orders[o][k]]++;
            m->corner[m->n][k + 1] = vertex(m, p[0], p[1], p[2]);
        }
    }
}

struct face {
    int v[3]; /* vertices, ascending */
    int element, face;
};

static int compare_faces(const void *a, const void *b) {
    const struct face *p = a, *q = b;
    for (int i = 0; i < 3; i++)
        if (p->v[i] != q->v[i])
            return p->v[i] < q->v[i] ? -1 : 1;
    return (p->element > q->element) - (p->element < q->element);
}

/* Face f lies opposite corner f. Corners ascend along the cube's axes, so the three are in order. */
static struct face face_of(const struct mesh *m, int element, int f) {
    struct face r = {{0}, element, f};
    for (int k = 0, i = 0; k < 4; k++)
        if (k != f)
            r.v[i++] = m->corner[element][k];
    return r;
}

/* A face without a partner is on the body or on the outer boundary, where a coordinate of all corners agrees.
 */
static int boundary(const struct mesh *m, const struct face *f) {
    int limit[3] = {m->x, m->y, m->z};
    for (int axis = 0; axis < 3; axis++) {
        int stride = axis == 0 ? 1 : axis == 1 ? m->x + 1 : (m->x + 1) * (m->y + 1), size = limit[axis] + 1;
        int a = f->v[0] / stride % size, b = f->v[1] / stride % size, c = f->v[2] / stride % size;
        if (a == b && b == c && (a == 0 || a == limit[axis]))
            return FAR_AWAY;
    }
    return BODY;
}

static void join_faces(struct wl *w, struct mesh *m) {
    size_t n = (size_t)m->n * FACES;
    struct face *faces = WL_ARRAY(w, struct face, n);
    for (size_t i = 0; i < n; i++)
        faces[i] = face_of(m, (int)(i / FACES), (int)(i % FACES));
    qsort(faces, n, sizeof *faces, compare_faces);
    for (size_t i = 0; i < n; i++) {
        struct face *f = &faces[i], *g = i + 1 < n ? &faces[i + 1] : NULL;
        int *mine = &m->neighbours[f->face * m->padded + f->element];
        if (g && f->v[0] == g->v[0] && f->v[1] == g->v[1] && f->v[2] == g->v[2]) {
            *mine = g->element;
            m->neighbours[g->face * m->padded + g->element] = f->element;
            i++;
        } else
            *mine = boundary(m, f);
    }
}

static void measure(struct mesh *m, int element) {
    double surface = 0;
    for (int f = 0; f < FACES; f++) {
        struct face face = face_of(m, element, f);
        struct vec3 a = m->at[face.v[0]], b = m->at[face.v[1]], c = m->at[face.v[2]];
        struct vec3 normal = cross(minus(b, a), minus(c, a));
        double sign = dot(normal, minus(m->at[m->corner[element][f]], a)) < 0 ? -0.5 : 0.5;
        float v[3] = {(float)(sign * normal.x), (float)(sign * normal.y), (float)(sign * normal.z)};
        for (int axis = 0; axis < 3; axis++)
            m->normals[(axis * FACES + f) * m->padded + element] = v[axis];
        surface += 0.5 * sqrt(dot(normal, normal));
    }
    m->areas[element] = (float)(surface * surface);
}

static struct mesh make_mesh(struct wl *w, int x, int y, int z) {
    struct mesh m = {.x = x, .y = y, .z = z};
    make_vertices(w, &m);
    m.corner = wl_host(w, (size_t)(x * y * z * 6), sizeof *m.corner);
    for (int k = 0; k < z; k++)
        for (int j = 0; j < y; j++)
            for (int i = 0; i < x; i++)
                if (!solid(&m, i, j, k))
                    cut_cube(&m, i, j, k);
    m.padded = (m.n + BLOCK - 1) / BLOCK * BLOCK;
    m.neighbours = WL_ARRAY(w, int, m.padded *FACES);
    m.normals = WL_ARRAY(w, float, m.padded *FACES * 3);
    m.areas = WL_ARRAY(w, float, m.padded);
    join_faces(w, &m);
    for (int i = 0; i < m.n; i++)
        measure(&m, i);
    /* the last block is filled with copies of the last element */
    for (int i = m.n; i < m.padded; i++) {
        for (int k = 0; k < FACES; k++)
            m.neighbours[k * m.padded + i] = m.neighbours[k * m.padded + m.n - 1];
        for (int k = 0; k < FACES * 3; k++)
            m.normals[k * m.padded + i] = m.normals[k * m.padded + m.n - 1];
        m.areas[i] = m.areas[m.n - 1];
    }
    return m;
}

/* ---- physics, in double precision ---- */

struct state {
    double density;
    struct vec3 momentum;
    double energy;
};

struct derived {
    struct vec3 velocity;
    double pressure, speed, sound;
};

/* The undisturbed flow: 1.2 times the speed of sound along x. */
static struct state far_state(void) {
    double density = 1.4, pressure = 1, speed = 1.2;
    return (struct state){density, {density * speed, 0, 0}, pressure / 0.4 + 0.5 * density * speed * speed};
}

static struct derived derive(struct state s) {
    struct derived d;
    d.velocity = (struct vec3){s.momentum.x / s.density, s.momentum.y / s.density, s.momentum.z / s.density};
    double speed2 = dot(d.velocity, d.velocity);
    d.pressure = 0.4 * (s.energy - 0.5 * s.density * speed2);
    d.speed = sqrt(speed2);
    d.sound = sqrt(1.4 * d.pressure / s.density);
    return d;
}

/* What a state carries through an area, given by its normal. */
static struct state carried(struct state s, struct vec3 area) {
    struct derived d = derive(s);
    double v = dot(d.velocity, area);
    struct vec3 m = {s.momentum.x * v + d.pressure * area.x, s.momentum.y * v + d.pressure * area.y,
                     s.momentum.z * v + d.pressure * area.z};
    return (struct state){s.density * v, m, (s.energy + d.pressure) * v};
}

static struct state combine(struct state a, double k, struct state b) {
    return (struct state){
        a.density + k * b.density,
        {a.momentum.x + k * b.momentum.x, a.momentum.y + k * b.momentum.y, a.momentum.z + k * b.momentum.z},
        a.energy + k * b.energy};
}

static struct state reference_flux(const struct mesh *m, const struct state *s, int i) {
    struct state flux = {0};
    struct derived me = derive(s[i]);
    for (int f = 0; f < FACES; f++) {
        const float *normal = m->normals + f * m->padded + i;
        struct vec3 area = {normal[0], normal[FACES * m->padded], normal[2 * FACES * m->padded]};
        int other = m->neighbours[f * m->padded + i];
        if (other == BODY) {
            flux.momentum =
                (struct vec3){flux.momentum.x + me.pressure * area.x, flux.momentum.y + me.pressure * area.y,
                              flux.momentum.z + me.pressure * area.z};
            continue;
        }
        struct state it = other == FAR_AWAY ? far_state() : s[other];
        flux = combine(combine(flux, 0.5, carried(s[i], area)), 0.5, carried(it, area));
        if (other != FAR_AWAY) {
            struct derived d = derive(it);
            double smooth = 0.1 * sqrt(dot(area, area)) * (me.speed + d.speed + me.sound + d.sound);
            flux = combine(combine(flux, -smooth, s[i]), smooth, it);
        }
    }
    return flux;
}

static void reference(struct wl *w, const struct mesh *m, int steps, float *out) {
    struct state *s = WL_ARRAY(w, struct state, m->padded), *old = WL_ARRAY(w, struct state, m->padded);
    struct state *flux = WL_ARRAY(w, struct state, m->padded);
    double *factor = WL_ARRAY(w, double, m->padded);
    for (int i = 0; i < m->padded; i++)
        s[i] = far_state();
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < m->padded; i++) {
            struct derived d = derive(s[i]);
            old[i] = s[i];
            factor[i] = 0.5 / (sqrt(m->areas[i]) * (d.speed + d.sound));
        }
        for (int stage = 0; stage < STAGES; stage++) {
            for (int i = 0; i < m->padded; i++)
                flux[i] = reference_flux(m, s, i);
            for (int i = 0; i < m->padded; i++)
                s[i] = combine(old[i], factor[i] / (STAGES - stage), flux[i]);
        }
    }
    for (int i = 0; i < m->padded; i++) {
        double v[VARIABLES] = {s[i].density, s[i].momentum.x, s[i].momentum.y, s[i].momentum.z, s[i].energy};
        for (int k = 0; k < VARIABLES; k++)
            out[k * m->padded + i] = (float)v[k];
    }
}

/* ---- the run ---- */

/* The far flow's constants: state, then flows of momentum and energy along each axis. */
static void set_far(struct wl *w) {
    struct state s = far_state();
    float state[5] = {(float)s.density, (float)s.momentum.x, 0, 0, (float)s.energy}, flow[12];
    for (int axis = 0; axis < 3; axis++) {
        struct state f = carried(s, (struct vec3){axis == 0, axis == 1, axis == 2});
        double v[4] = {f.momentum.x, f.momentum.y, f.momentum.z, f.energy};
        for (int k = 0; k < 4; k++)
            flow[k * 3 + axis] = (float)v[k];
    }
    wl_symbol(w, "cfd_far", state, sizeof state);
    wl_symbol(w, "cfd_far_flow", flow, sizeof flow);
}

static void run(struct wl *w) {
    int steps = wl_option(w, "steps", sizes[w->size].steps);
    struct mesh m = make_mesh(w, sizes[w->size].x, sizes[w->size].y, sizes[w->size].z);
    size_t n = (size_t)m.padded, bytes = n * VARIABLES * sizeof(float);
    set_far(w);
    CUdeviceptr d_neighbours = wl_upload(w, m.neighbours, n * FACES * sizeof(int)),
                d_normals = wl_upload(w, m.normals, n * FACES * 3 * sizeof(float)),
                d_areas = wl_upload(w, m.areas, n * sizeof(float)), d_variables = wl_alloc(w, bytes),
                d_old = wl_alloc(w, bytes), d_fluxes = wl_alloc(w, bytes),
                d_factors = wl_alloc(w, n * sizeof(float));
    struct wl_dim grid = wl_dim((unsigned)(m.padded / BLOCK), 1), block = wl_dim(BLOCK, 1);
    WL_LAUNCH(w, "cfd_initialize", grid, block, 0, &m.padded, &d_variables);
    for (int step = 0; step < steps; step++) {
        wl_copy(w, d_old, d_variables, bytes);
        WL_LAUNCH(w, "cfd_step_factor", grid, block, 0, &m.padded, &d_variables, &d_areas, &d_factors);
        for (int left = STAGES; left > 0; left--) {
            WL_LAUNCH(w, "cfd_flux", grid, block, 0, &m.padded, &d_neighbours, &d_normals, &d_variables,
                      &d_fluxes);
            WL_LAUNCH(w, "cfd_time_step", grid, block, 0, &left, &m.padded, &d_old, &d_variables, &d_factors,
                      &d_fluxes);
        }
    }
    float *got = WL_ARRAY(w, float, n *VARIABLES), *want = WL_ARRAY(w, float, n *VARIABLES);
    wl_get(w, got, d_variables, bytes);
    if (w->check)
        reference(w, &m, steps, want);
    /* a stage adds a fraction of the four faces' flows, which cancel: of each stage's roundings about 5 of
     * values of order 1 remain; the smoothing keeps differences from growing */
    wl_check_f32(w, "variable", got, want, n * VARIABLES,
                 (struct wl_tolerance){5 * STAGES * (steps < 100 ? steps : 100) * 0x1p-24, 1});
}

const struct workload workload = {"cfd", run};
