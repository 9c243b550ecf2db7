/* Error codes: names, texts, and the code for each way a launch can go wrong. */
#include "cuda/core.h"

struct error_row {
    int code;
    const char *runtime, *driver, *text;
};

static const struct error_row errors[] = {
#define ERROR(code, runtime, driver, text)        {code, #runtime, #driver, text},
#define RUNTIME_ERROR(code, runtime, text)        {code, #runtime, NULL, text},
#define DRIVER_ERROR(code, runtime, driver, text) {code, NULL, #driver, text},
#include "cuda/errors.def"
};

static const struct error_row *find(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return &errors[i];
    return NULL;
}

const char *cud_error_name(int code, bool driver) {
    const struct error_row *e = find(code);
    return !e ? NULL : driver ? e->driver : e->runtime;
}

const char *cud_error_text(int code, bool driver) {
    return cud_error_name(code, driver) ? find(code)->text : NULL;
}

/* What an H200 reports for the same mistakes. */
static const int of_status[] = {
    [RP_OK] = cudaSuccess,
    [RP_BAD_PTX] = cudaErrorInvalidPtx,
    [RP_UNSUPPORTED] = cudaErrorNotSupported,
    [RP_NOT_FOUND] = cudaErrorSymbolNotFound,
    [RP_OUT_OF_MEMORY] = cudaErrorMemoryAllocation,
    [RP_INVALID_VALUE] = cudaErrorInvalidValue,
    [RP_INVALID_CONFIG] = cudaErrorInvalidConfiguration,
    [RP_OUT_OF_RESOURCES] = cudaErrorLaunchOutOfResources,
    [RP_INVALID_CLUSTER] = cudaErrorInvalidClusterSize,
    [RP_ILLEGAL_ADDRESS] = cudaErrorIllegalAddress,
    [RP_MISALIGNED] = cudaErrorMisalignedAddress,
    [RP_SHARED_RANGE] = cudaErrorIllegalAddress,
    [RP_LOCAL_RANGE] = cudaErrorIllegalAddress,
    [RP_ADDRESS_SPACE] = cudaErrorInvalidAddressSpace,
    [RP_STACK_OVERFLOW] = cudaErrorIllegalAddress,
    [RP_ILLEGAL_INSTRUCTION] = cudaErrorIllegalInstruction,
    [RP_INVALID_PC] = cudaErrorInvalidPc,
    [RP_ASSERT] = cudaErrorAssert,
    [RP_TRAP] = cudaErrorLaunchFailure,
    [RP_TIMEOUT] = cudaErrorLaunchTimeout,
    [RP_WRONG_ACCESS] = cudaErrorLaunchFailure,
};

int cud_error_of(enum rp_status s) {
    return (size_t)s < sizeof of_status / sizeof *of_status ? of_status[s] : cudaErrorUnknown;
}
