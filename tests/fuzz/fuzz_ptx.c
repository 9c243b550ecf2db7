/* libFuzzer target: any bytes given to the PTX parser yield a module or diagnostics. */
#include "base/diag.h"
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct diag d = {0};
    struct ptx_module *m = ptx_parse((const char *)data, size, "fuzz.ptx", &d);
    if (!m && !d.errors)
        __builtin_trap(); /* a module that cannot be used must say why */
    ptx_free(m);
    diag_free(&d);
    return 0;
}
