// A byte-code interpreter: a dense switch (a branch table) in a loop, with every lane at its own place in its
// own program.
#include "test.h"

enum { PUSH, ADD, SUB, MUL, DUP, SWAP, OVER, ROT, NEG, XOR, SHR, INC, DEC, JNZ, DROP, HALT };
const int words =
    64; // a program is a ring of words, the stack a ring of 16 cells, so that any program is safe

__host__ __device__ int interpret(const int *code, int input, int limit) {
    int stack[16] = {}, sp = 1, pc = 0, steps = 0;
    auto at = [&](int depth) -> int & { return stack[(sp - depth) & 15]; };
    at(1) = input;
    while (steps++ < limit) {
        int op = code[pc++ & (words - 1)];
        switch (op) {
        case PUSH:
            sp++;
            at(1) = code[pc++ & (words - 1)];
            break;
        case ADD:
            at(2) = int(unsigned(at(2)) + unsigned(at(1)));
            sp--;
            break;
        case SUB:
            at(2) = int(unsigned(at(2)) - unsigned(at(1)));
            sp--;
            break;
        case MUL:
            at(2) = int(unsigned(at(2)) * unsigned(at(1)));
            sp--;
            break;
        case DUP:
            sp++;
            at(1) = at(2);
            break;
        case SWAP: {
            int t = at(1);
            at(1) = at(2);
            at(2) = t;
            break;
        }
        case OVER:
            sp++;
            at(1) = at(3);
            break;
        case ROT: {
            int t = at(3);
            at(3) = at(2);
            at(2) = at(1);
            at(1) = t;
            break;
        }
        case NEG:
            at(1) = int(0u - unsigned(at(1)));
            break;
        case XOR:
            at(2) ^= at(1);
            sp--;
            break;
        case SHR:
            at(2) >>= at(1) & 31;
            sp--;
            break;
        case INC:
            at(1) = int(unsigned(at(1)) + 1);
            break;
        case DEC:
            at(1) = int(unsigned(at(1)) - 1);
            break;
        case JNZ:
            pc = at(1) ? code[pc & (words - 1)] : pc + 1;
            break;
        case DROP:
            sp--;
            break;
        case HALT:
            return at(1);
        default: // a number: no operation
            break;
        }
    }
    return int(unsigned(at(1)) * 31 + unsigned(pc));
}

__global__ void run(const int *code, int programs, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = interpret(code + i % programs * words, i, 200);
}

// A sparse switch (a tree of comparisons) and one with holes and fall-through.
__global__ void others(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i], r = 0;
    switch (v) {
    case -1000:
        r = 1;
        break;
    case 7:
        r = 2;
        break;
    case 5000:
        r = 3;
        break;
    case 0x7fffffff:
        r = 4;
        break;
    default:
        r = v & 15;
    }
    switch (v & 31) {
    case 0:
        r += 3;
    case 1:
        r *= 7;
    case 2:
        r ^= 0x55;
        break;
    case 5:
        r = ~r;
        break;
    case 6:
    case 8:
        r += v;
        break;
    case 11:
        r -= 1000;
        break;
    case 30:
        r <<= 3;
        break;
    }
    out[i] = r;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 3000);
    random_source rng(34);
    const int programs = 24;
    std::vector<int> in(n), want(n), code(programs * words);
    for (int &c : code)
        c = rng.below(40) ? int(rng.below(HALT)) : int(rng.below(64));
    for (int i = 0; i < n; i++)
        want[i] = interpret(&code[i % programs * words], i, 200);
    for (int i = 0; i < n; i++) {
        const int special[] = {-1000, 7, 5000, 0x7fffffff};
        in[i] = rng.below(4) ? int(rng.below(200)) - 100 : special[rng.below(4)];
    }
    dev_array<int> dcode(code), out(n), din(in);
    run<<<div_up(n, 96), 96>>>(dcode, programs, out, n);
    SYNC();
    verdict("programs", out.get() == want);
    print_sum("programs", out.get());
    others<<<div_up(n, 96), 96>>>(din, out, n);
    SYNC();
    print_sum("switches", out.get());
    return finish();
}
