/* The sanitizers on shared memory that other blocks of the cluster access, and on matrices whose rows some
 * lanes name for all: one mistake each, and the same without it. */
#include "timing_rig.h"

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 x) .explicitcluster .reqnctapercluster "
    "2\n{\n"
    ".reg .b32 %r<16>; .reg .b64 %l<4>; .reg .pred %p<3>;\n"
    ".shared .align 16 .b8 table[1024];\n"
    "ld.param.u64 %l0, [buffer]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1;\n"
    "mov.u32 %r4, table; mapa.shared::cluster.u32 %r5, %r4, %r3;\n"
    "shl.b32 %r6, %r1, 2; add.u32 %r7, %r4, %r6; add.u32 %r8, %r5, %r6;\n" /* own word, the peer's */
    "shl.b32 %r9, %r1, 4; add.u32 %r9, %r9, %r4; mov.u32 %r10, 0;\n";      /* own row of a matrix */
static const char tail[] =
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    "mov.u32 %r12, %ctaid.x; shl.b32 %r12, %r12, 6; add.u32 %r12, %r12, %r1;\n"
    "mul.wide.u32 %l1, %r12, 4; add.u64 %l0, %l0, %l1; st.global.u32 [%l0], %r10; exit;\n}\n";

#define STORE   "st.shared.u32 [%r7], %r1;\n"
#define PEER    "ld.shared::cluster.u32 %r10, [%r8];\n"
#define CLUSTER "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
#define BLOCK   "bar.sync 0;\n"
#define ALL     "st.shared.v4.u32 [%r9], {%r1, %r1, %r1, %r1};\n"
#define MATRIX  "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];\n"

/* Runs 2 blocks of 64 threads; what the tool says, to be freed. */
static char *said(unsigned tool, const char *body, uint64_t *errors) {
    struct rig r;
    struct str s = {0};
    char *report = NULL;
    str_printf(&s, "%s%s%s", head, body, tail);
    rig_open_options(&r, &(struct rp_options){.gpu = "h200", .functional = true, .tools = tool},
                     str_text(&s));
    rig_try(&r, "k", 2, 64, 0, (struct rig_params){0}, &report);
    rp_findings_end(r.g, false);
    size_t n;
    char *text = xstrdup(rp_take_findings(r.g, &n));
    *errors = rp_errors(r.g);
    free(report);
    rig_close(&r);
    str_free(&s);
    return text;
}

static const struct plant {
    unsigned tool;
    const char *body, *says; /* NULL: nothing */
} plants[] = {
    /* Another block's shared memory: what is there, and one word more. */
    {RP_MEMCHECK, STORE CLUSTER PEER, NULL},
    {RP_MEMCHECK, CLUSTER "ld.shared::cluster.u32 %r10, [%r8+1020];\n",
     "Invalid __shared__ read of size 4 bytes"},
    {RP_MEMCHECK, CLUSTER "mapa.shared::cluster.u32 %r8, %r4, 2; st.shared::cluster.u32 [%r8], %r1;\n",
     "Invalid __shared__ write of size 4 bytes"},
    /* Written by its own block or from the other one, or not at all. */
    {RP_INITCHECK, STORE CLUSTER PEER, NULL},
    {RP_INITCHECK, "st.shared::cluster.u32 [%r8], %r1;\n" CLUSTER "ld.shared.u32 %r10, [%r7];\n", NULL},
    {RP_INITCHECK, CLUSTER PEER, "Uninitialized __shared__ memory read of size 4 bytes"},
    /* The barrier of the cluster orders blocks, that of a block does not. */
    {RP_RACECHECK, STORE CLUSTER PEER, NULL},
    {RP_RACECHECK, STORE CLUSTER PEER CLUSTER STORE, NULL},
    {RP_RACECHECK,
     STORE "barrier.cluster.arrive.aligned; mov.u32 %r11, %r1; barrier.cluster.wait.aligned;\n" PEER, NULL},
    {RP_RACECHECK, STORE BLOCK PEER, "Race reported between"},
    {RP_RACECHECK, STORE CLUSTER PEER BLOCK STORE, "Race reported between"},
    /* Its own block, by the barrier of the cluster: warps read what others wrote. */
    {RP_RACECHECK, STORE CLUSTER "xor.b32 %r11, %r7, 128; ld.shared.u32 %r10, [%r11];\n", NULL},
    {RP_RACECHECK, STORE "xor.b32 %r11, %r7, 128; ld.shared.u32 %r10, [%r11];\n", "Race reported between"},
    /* A row of a matrix is 16 bytes, which one lane names and others get. */
    {RP_MEMCHECK, ALL BLOCK MATRIX, NULL},
    {RP_MEMCHECK, "add.u32 %r9, %r4, 1008; " MATRIX, NULL},
    {RP_MEMCHECK, "add.u32 %r9, %r4, 1024; " MATRIX, "Invalid __shared__ read of size 16 bytes"},
    {RP_MEMCHECK, "add.u32 %r9, %r4, 1024; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r1};\n",
     "Invalid __shared__ write of size 16 bytes"},
    {RP_INITCHECK, ALL BLOCK MATRIX, NULL},
    {RP_INITCHECK, STORE BLOCK MATRIX, "Uninitialized __shared__ memory read of size 16 bytes"},
    {RP_RACECHECK, ALL BLOCK MATRIX, NULL},
    {RP_RACECHECK, ALL "xor.b32 %r9, %r9, 512; " MATRIX, "Race reported between"},
};

static void test_plants(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        uint64_t errors;
        char *text = said(plants[i].tool, plants[i].body, &errors);
        if (plants[i].says ? !strstr(text, plants[i].says) : errors != 0)
            fail_msg("%zu: %s\nshould be told: %s, but is:\n%s", i, plants[i].body,
                     plants[i].says ? plants[i].says : "nothing", text);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
