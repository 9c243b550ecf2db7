// Fluid in a box by the lattice-Boltzmann method: 19 directions, a thread for each cell, a block of 120
// threads for each row of cells.
//
// A thread reads the 19 densities of its cell, lets them collide (or, in a wall, turns them round) and writes
// each to the neighbour it moves to. The fields of a row of cells lie one after another, padded to 128
// floats; the twentieth holds the kind of cell. All offsets are constants.
#include "device.h"

#define ROW    120
#define PITCH  128
#define ROWS   120
#define FIELDS 20
#define OMEGA  1.95f

#define WALL   1u
#define DRIVEN 2u

// Directions: east +x, north +y, top +z.
enum { C, N, S, E, W, T, B, NE, NW, SE, SW, NT, NB, ST, SB, ET, EB, WT, WB, KIND };

// Distance from a cell's field 0 to field e of the neighbour at (x, y, z).
#define AT(x, y, z, e) ((((z)*ROWS + (y)) * FIELDS + (e)) * PITCH + (x))

// One direction's collision: towards the density that a fluid of this speed has in it. `along` is the speed
// along the direction, `still` the part that does not depend on it.
DEVICE_FN float collide(float density, float share, float along, float still) {
    return (1.0f - OMEGA) * density + share * (along * (4.5f * along + 3.0f) + still);
}

DEVICE_FN void swap(float &a, float &b) {
    float t = a;
    a = b;
    b = t;
}

KERNEL __launch_bounds__(ROW) lbm_step(const float *from, float *to) {
    int cell = AT((int)threadIdx.x, (int)blockIdx.x, (int)blockIdx.y, 0);
    from += cell;
    to += cell;
    float c = from[AT(0, 0, 0, C)], n = from[AT(0, 0, 0, N)], s = from[AT(0, 0, 0, S)];
    float e = from[AT(0, 0, 0, E)], w = from[AT(0, 0, 0, W)], t = from[AT(0, 0, 0, T)];
    float b = from[AT(0, 0, 0, B)], ne = from[AT(0, 0, 0, NE)], nw = from[AT(0, 0, 0, NW)];
    float se = from[AT(0, 0, 0, SE)], sw = from[AT(0, 0, 0, SW)], nt = from[AT(0, 0, 0, NT)];
    float nb = from[AT(0, 0, 0, NB)], st = from[AT(0, 0, 0, ST)], sb = from[AT(0, 0, 0, SB)];
    float et = from[AT(0, 0, 0, ET)], eb = from[AT(0, 0, 0, EB)], wt = from[AT(0, 0, 0, WT)];
    float wb = from[AT(0, 0, 0, WB)];
    unsigned kind = __float_as_uint(from[AT(0, 0, 0, KIND)]);

    if (kind & WALL) {
        swap(n, s);
        swap(e, w);
        swap(t, b);
        swap(ne, sw);
        swap(nw, se);
        swap(nt, sb);
        swap(nb, st);
        swap(et, wb);
        swap(eb, wt);
    } else {
        float rho = c + n + s + e + w + t + b + ne + nw + se + sw + nt + nb + st + sb + et + eb + wt + wb;
        float ux = (e - w + ne - nw + se - sw + et + eb - wt - wb) / rho;
        float uy = (n - s + ne + nw - se - sw + nt + nb - st - sb) / rho;
        float uz = (t - b + nt - nb + st - sb + et - eb + wt - wb) / rho;
        if (kind & DRIVEN) {
            ux = 0.005f;
            uy = 0.002f;
            uz = 0.0f;
        }
        float still = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
        float rest = OMEGA * rho * (1.0f / 3.0f), side = OMEGA * rho * (1.0f / 18.0f);
        float edge = OMEGA * rho * (1.0f / 36.0f);
        c = (1.0f - OMEGA) * c + rest * still;
        n = collide(n, side, uy, still);
        s = collide(s, side, -uy, still);
        e = collide(e, side, ux, still);
        w = collide(w, side, -ux, still);
        t = collide(t, side, uz, still);
        b = collide(b, side, -uz, still);
        ne = collide(ne, edge, ux + uy, still);
        nw = collide(nw, edge, uy - ux, still);
        se = collide(se, edge, ux - uy, still);
        sw = collide(sw, edge, -ux - uy, still);
        nt = collide(nt, edge, uy + uz, still);
        nb = collide(nb, edge, uy - uz, still);
        st = collide(st, edge, uz - uy, still);
        sb = collide(sb, edge, -uy - uz, still);
        et = collide(et, edge, ux + uz, still);
        eb = collide(eb, edge, ux - uz, still);
        wt = collide(wt, edge, uz - ux, still);
        wb = collide(wb, edge, -ux - uz, still);
    }

    to[AT(0, 0, 0, C)] = c;
    to[AT(0, 1, 0, N)] = n;
    to[AT(0, -1, 0, S)] = s;
    to[AT(1, 0, 0, E)] = e;
    to[AT(-1, 0, 0, W)] = w;
    to[AT(0, 0, 1, T)] = t;
    to[AT(0, 0, -1, B)] = b;
    to[AT(1, 1, 0, NE)] = ne;
    to[AT(-1, 1, 0, NW)] = nw;
    to[AT(1, -1, 0, SE)] = se;
    to[AT(-1, -1, 0, SW)] = sw;
    to[AT(0, 1, 1, NT)] = nt;
    to[AT(0, 1, -1, NB)] = nb;
    to[AT(0, -1, 1, ST)] = st;
    to[AT(0, -1, -1, SB)] = sb;
    to[AT(1, 0, 1, ET)] = et;
    to[AT(1, 0, -1, EB)] = eb;
    to[AT(-1, 0, 1, WT)] = wt;
    to[AT(-1, 0, -1, WB)] = wb;
}
