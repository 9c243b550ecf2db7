/* In place of the vendor's libnvrtc, which no test machine has: "compiles" every program to one kernel of PTX
 * if the architecture is virtual, to something that is no PTX otherwise, and prints the options it got. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p) {\n"
                          "    .reg .b64 %rd<2>;\n    .reg .b32 %r<2>;\n"
                          "    ld.param.u64 %rd1, [p];\n    mov.b32 %r1, 42;\n"
                          "    st.global.b32 [%rd1], %r1;\n    ret;\n}\n";
static const char machine_code[] = "\177ELF machine code";
static const char *made = machine_code;

int nvrtcGetNumSupportedArchs(int *n);
int nvrtcGetSupportedArchs(int *archs);
int nvrtcCreateProgram(void **prog, const char *source, const char *name, int n, const char *const *headers,
                       const char *const *names);
int nvrtcCompileProgram(void *prog, int n, const char *const *options);
int nvrtcGetPTXSize(void *prog, size_t *size);
int nvrtcGetPTX(void *prog, char *out);

int nvrtcGetNumSupportedArchs(int *n) {
    *n = 3;
    return 0;
}

int nvrtcGetSupportedArchs(int *archs) {
    memcpy(archs, (const int[]){75, 80, 90}, 3 * sizeof *archs);
    return 0;
}

int nvrtcCreateProgram(void **prog, const char *source, const char *name, int n, const char *const *headers,
                       const char *const *names) {
    (void)source, (void)name, (void)n, (void)headers, (void)names;
    *prog = (void *)ptx;
    return 0;
}

int nvrtcCompileProgram(void *prog, int n, const char *const *options) {
    (void)prog;
    for (int i = 0; i < n; i++) {
        printf("option %s\n", options[i]);
        if (strstr(options[i], "compute_"))
            made = ptx;
    }
    return 0;
}

int nvrtcGetPTXSize(void *prog, size_t *size) {
    (void)prog;
    *size = strlen(made) + 1;
    return 0;
}

int nvrtcGetPTX(void *prog, char *out) {
    (void)prog;
    strcpy(out, made);
    return 0;
}
