// String search three ways: naive with early exit on bytes, Rabin-Karp with a rolling hash, and an
// Aho-Corasick automaton.
#include "test.h"
#include <queue>
#include <string>

__constant__ char pattern[64];

__global__ void naive(const char *text, int n, int len, unsigned char *hit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - len)
        return;
    int k = 0;
    while (k < len && text[i + k] == pattern[k])
        k++;
    hit[i] = k == len;
}

__global__ void rabin_karp(const char *text, int n, int len, int span, unsigned *found) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * span, last = min(first + span, n - len + 1);
    if (first >= last)
        return;
    const unsigned base = 257;
    unsigned want = 0, hash = 0, power = 1;
    for (int k = 0; k < len; k++) {
        want = want * base + (unsigned char)pattern[k];
        hash = hash * base + (unsigned char)text[first + k];
        power *= k ? base : 1;
    }
    for (int i = first; i < last; i++) {
        if (hash == want) {
            bool same = true;
            for (int k = 0; k < len && same; k++)
                same = text[i + k] == pattern[k];
            if (same)
                atomicAdd(found, 1);
        }
        if (i + 1 < last)
            hash = (hash - (unsigned char)text[i] * power) * base + (unsigned char)text[i + len];
    }
}

__global__ void automaton(const char *text, int n, const short *next, const unsigned *output, int overlap,
                          int span, unsigned *counts) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * span;
    if (first >= n)
        return;
    int state = 0;
    for (int i = max(first - overlap, 0); i < min(first + span, n); i++) {
        state = next[state * 4 + (text[i] - 'a')];
        if (i >= first)
            for (unsigned set = output[state]; set; set &= set - 1)
                atomicAdd(&counts[__ffs(set) - 1], 1u);
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 40000);
    random_source rng(20);
    std::vector<char> text(n);
    for (char &c : text)
        c = char('a' + (rng.below(3) ? rng.below(2) : rng.below(4)));
    const std::string words[] = {"abbab", "aaaa", "bab", "cabab", "dd", "abab", "b"};
    const int count = 7;
    std::vector<unsigned> want(count);
    for (int w = 0; w < count; w++)
        for (int i = 0; i + int(words[w].size()) <= n; i++)
            want[w] += memcmp(&text[i], words[w].data(), words[w].size()) == 0;

    dev_array<char> dtext(text);
    for (int w : {0, 3}) {
        int len = int(words[w].size());
        CHECK(cudaMemcpyToSymbol(pattern, words[w].data(), len));
        dev_array<unsigned char> hit(n);
        dev_array<unsigned> found(1);
        naive<<<div_up(n, 256), 256>>>(dtext, n, len, hit);
        rabin_karp<<<div_up(n, 64 * 32), 64>>>(dtext, n, len, 32, found);
        SYNC();
        unsigned hits = 0;
        for (unsigned char h : hit.get())
            hits += h;
        verdict(words[w].c_str(), hits == want[w] && found.get()[0] == want[w]);
        print_sum("hits", hit.get());
    }

    std::vector<short> go(4, -1), fail{0};
    std::vector<unsigned> output{0};
    for (int w = 0; w < count; w++) {
        int s = 0;
        for (char c : words[w]) {
            if (go[s * 4 + c - 'a'] < 0) {
                go[s * 4 + c - 'a'] = short(output.size());
                go.insert(go.end(), 4, -1);
                output.push_back(0);
                fail.push_back(0);
            }
            s = go[s * 4 + c - 'a'];
        }
        output[s] |= 1u << w;
    }
    std::queue<int> order;
    order.push(0);
    while (!order.empty()) {
        int s = order.front();
        order.pop();
        for (int c = 0; c < 4; c++) {
            short &to = go[s * 4 + c];
            int back = s ? go[fail[s] * 4 + c] : 0;
            if (to < 0) {
                to = short(back);
            } else {
                fail[to] = short(s ? back : 0);
                output[to] |= output[fail[to]];
                order.push(to);
            }
        }
    }
    dev_array<short> dgo(go);
    dev_array<unsigned> dout(output), counts(count);
    automaton<<<div_up(n, 32 * 100), 32>>>(dtext, n, dgo, dout, 4, 100, counts);
    SYNC();
    verdict("automaton", counts.get() == want);
    for (int w = 0; w < count; w++)
        printf("%s %u\n", words[w].c_str(), want[w]);
    return finish();
}
