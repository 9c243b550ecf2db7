#define _GNU_SOURCE
// Addresses and memory apart: reserved, created, mapped, made accessible, and what each call answers when it
// is used wrongly. Faults end a context, so each has a process of its own. argv[1] is the PTX file.
#include "drv.h"
#include <sys/wait.h>
#include <unistd.h>

#define SHOW(call) printf("%s: %s\n", #call, error_name(call))

static size_t g; // granularity
static CUfunction add, first;
static CUmemAllocationProp props;
static CUmemAccessDesc access_desc;

static void start(const char *path) {
    CUmodule module;
    use_device();
    CHECK(cuModuleLoad(&module, path));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuModuleGetFunction(&first, module, "first"));
    props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access_desc.location = props.location;
    access_desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemGetAllocationGranularity(&g, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static CUresult run_add(CUdeviceptr p, int n, int v) {
    void *args[] = {&p, &n, &v};
    CUresult err = cuLaunchKernel(add, (unsigned)(n + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL);
    return err ? err : cuCtxSynchronize();
}

static void show_ints(const char *what, CUdeviceptr p) {
    int v[4] = {0, 0, 0, 0};
    CUresult err = cuMemcpyDtoH(v, p, sizeof v);
    printf("%s: %s %d %d %d %d\n", what, error_name(err), v[0], v[1], v[2], v[3]);
}

static void show_access(const char *what, CUdeviceptr p) {
    unsigned long long flags = 99;
    CUresult err = cuMemGetAccess(&flags, &access_desc.location, p);
    printf("%s: %s %llu\n", what, error_name(err), flags);
}

// The life of a few allocations, as a growing array has them.
static void life(void) {
    int host[4] = {1, 2, 3, 4};
    size_t before, created, reserved, after, total, size;
    CUdeviceptr va, base;
    CUmemGenericAllocationHandle h, h2, again;
    CHECK(cuMemGetInfo(&before, &total));
    CHECK(cuMemCreate(&h, 4 * g, &props, 0));
    CHECK(cuMemGetInfo(&created, &total));
    CHECK(cuMemAddressReserve(&va, 8 * g, 0, 0, 0));
    CHECK(cuMemGetInfo(&reserved, &total));
    printf("created takes %zu granules, reserved %zu; aligned %d\n", (before - created) / g,
           (created - reserved) / g, va % g == 0);
    CHECK(cuMemMap(va, 4 * g, 0, h, 0));
    SHOW(cuMemcpyHtoD(va, host, sizeof host));
    show_access("mapped", va);
    CHECK(cuMemSetAccess(va, 4 * g, &access_desc, 1));
    show_access("accessible", va);
    CHECK(cuMemcpyHtoD(va, host, sizeof host));
    CHECK(run_add(va, 4, 10));
    show_ints("added", va);
    CHECK(cuMemGetAddressRange(&base, &size, va + 100));
    printf("range from %zu, %zu granules\n", (size_t)(base - va), size / g);
    CHECK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(va + 5)));
    printf("the same handle %d\n", again == h);
    CHECK(cuMemRelease(again));
    CUmemAllocationProp read_back;
    memset(&read_back, 0xff, sizeof read_back);
    CHECK(cuMemGetAllocationPropertiesFromHandle(&read_back, h));
    printf("properties %d %d %d\n", read_back.type, read_back.location.type, read_back.location.id);

    CHECK(cuMemCreate(&h2, 4 * g, &props, 0));
    SHOW(cuMemMap(va + 4 * g, 2 * g, 0, h2, 0));
    CHECK(cuMemMap(va + 4 * g, 4 * g, 0, h2, 0));
    CHECK(cuMemSetAccess(va + 4 * g, 4 * g, &access_desc, 1));
    CHECK(cuMemsetD32(va, 5, 8 * g / 4));
    CHECK(run_add(va, (int)(8 * g / 4), 1));
    show_ints("across the seam", va + 4 * g - 8);
    CHECK(cuMemcpyDtoD(va + 3 * g, va, 2 * g));
    CHECK(cuMemRelease(h));
    show_ints("released, still mapped", va + 2 * g);
    CHECK(cuMemGetAddressRange(&base, &size, va + 4 * g));
    printf("range from %zu, %zu granules\n", (size_t)(base - va) / g, size / g);
    SHOW(cuMemUnmap(va, 2 * g));
    CHECK(cuMemUnmap(va, 8 * g));
    SHOW(cuMemAddressFree(va, 4 * g));
    CHECK(cuMemAddressFree(va, 8 * g));
    SHOW(cuMemAddressFree(va, 8 * g));

    // Moved to other addresses, the contents are as they were.
    CHECK(cuMemAddressReserve(&va, 4 * g, 64 << 20, 0, 0));
    printf("aligned as asked %d\n", va % (64 << 20) == 0);
    CHECK(cuMemMap(va, 4 * g, 0, h2, 0));
    CHECK(cuMemSetAccess(va, 4 * g, &access_desc, 1));
    show_ints("elsewhere", va + 2 * g);
    CHECK(cuMemUnmap(va, 4 * g));
    CHECK(cuMemRelease(h2));
    SHOW(cuMemRelease(h2));
    CHECK(cuMemAddressFree(va, 4 * g));
    CHECK(cuMemGetInfo(&after, &total));
    printf("left over %zu\n", before - after);
}

// One allocation at two places, by way of a file descriptor.
static void shared(void) {
    CUdeviceptr va;
    CUmemGenericAllocationHandle h, imported, plain;
    int fd = -1;
    props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CHECK(cuMemAddressReserve(&va, 4 * g, 0, 0, 0));
    CHECK(cuMemCreate(&h, 2 * g, &props, 0));
    CHECK(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemImportFromShareableHandle(&imported, (void *)(size_t)fd,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CHECK(cuMemMap(va, 2 * g, 0, h, 0));
    CHECK(cuMemMap(va + 2 * g, 2 * g, 0, imported, 0));
    CHECK(cuMemSetAccess(va, 4 * g, &access_desc, 1));
    CHECK(cuMemsetD32(va, 9, 4));
    CHECK(run_add(va + 2 * g, 4, 1));
    show_ints("two places", va);
    unsigned type = 0, mapped = 0;
    size_t size = 0;
    CUdeviceptr base = 0;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, va + 7));
    CHECK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, va + 7));
    CHECK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, va + 7));
    CHECK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, va + 7));
    printf("type %u, range from %zu, %zu granules, mapped %u\n", type, (size_t)(base - va), size / g,
           mapped & 1);
    SHOW(cuMemFree(va));
    CHECK(cuMemUnmap(va, 4 * g));
    CHECK(cuMemRelease(h));
    CHECK(cuMemRelease(imported));
    CHECK(cuMemAddressFree(va, 4 * g));
    props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    CHECK(cuMemCreate(&plain, g, &props, 0));
    SHOW(cuMemExportToShareableHandle(&fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cuMemRelease(plain));
}

static void wrong(void) {
    CUdeviceptr va = 0, plain;
    CUmemGenericAllocationHandle h = 0;
    int host[4] = {0};
    SHOW(cuMemCreate(&h, 100, &props, 0));
    SHOW(cuMemCreate(&h, 0, &props, 0));
    SHOW(cuMemCreate(&h, g, &props, 1));
    SHOW(cuMemCreate(&h, (size_t)1 << 45, &props, 0));
    CUmemAllocationProp bad = props;
    bad.location.id = 5;
    SHOW(cuMemCreate(&h, g, &bad, 0));
    bad = props;
    bad.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    SHOW(cuMemCreate(&h, g, &bad, 0));
    SHOW(cuMemAddressReserve(&va, 100, 0, 0, 0));
    SHOW(cuMemAddressReserve(&va, 0, 0, 0, 0));
    SHOW(cuMemAddressReserve(&va, g, 3, 0, 0));
    SHOW(cuMemAddressReserve(&va, g, 0, 0, 1));
    CHECK(cuMemAddressReserve(&va, 4 * g, 0, 0, 0));
    CHECK(cuMemCreate(&h, 2 * g, &props, 0));
    SHOW(cuMemMap(va + 1, 2 * g, 0, h, 0));
    SHOW(cuMemMap(va, 100, 0, h, 0));
    SHOW(cuMemMap(va, 4 * g, 0, h, 0));
    SHOW(cuMemMap(va, g, g, h, 0));
    SHOW(cuMemMap(va, 2 * g, 0, h, 1));
    CHECK(cuMemMap(va, 2 * g, 0, h, 0));
    SHOW(cuMemMap(va, 2 * g, 0, h, 0));
    SHOW(cuMemSetAccess(va, 4 * g, &access_desc, 1));
    SHOW(cuMemSetAccess(va, 2 * g, &access_desc, 0));
    SHOW(cuMemSetAccess(va + 3 * g, g, &access_desc, 1));
    SHOW(cuMemSetAccess(va, g, &access_desc, 1));
    show_access("the first half", va);
    show_access("the second half", va + g);
    show_access("not mapped", va + 3 * g);
    SHOW(cuMemFree(va));
    SHOW(cuMemAddressFree(va, 4 * g));
    SHOW(cuMemUnmap(va + 3 * g, g));
    SHOW(cuMemUnmap(va, g));
    CHECK(cuMemUnmap(va, 2 * g));
    SHOW(cuMemcpyHtoD(va, host, sizeof host));
    SHOW(cuMemsetD8(va, 0, 16));
    SHOW(cuMemAddressFree(va + g, g));
    CHECK(cuMemAddressFree(va, 4 * g));
    SHOW(cuMemRelease(0));
    CHECK(cuMemRelease(h));
    CHECK(cuMemAlloc(&plain, 1000));
    SHOW(cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)plain));
    show_access("plain memory", plain);
    SHOW(cuMemUnmap(plain, g));
    SHOW(cuMemGetAllocationGranularity(NULL, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

// Accesses that must fault: no access, read only, not mapped, unmapped.
static void faults(int which) {
    int host[4] = {0};
    CUdeviceptr va, out;
    CUmemGenericAllocationHandle h;
    CHECK(cuMemAddressReserve(&va, 4 * g, 0, 0, 0));
    CHECK(cuMemCreate(&h, 2 * g, &props, 0));
    CHECK(cuMemMap(va, 2 * g, 0, h, 0));
    CHECK(cuMemAlloc(&out, 4));
    if (which == 1)
        access_desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    if (which > 0)
        CHECK(cuMemSetAccess(va, 2 * g, &access_desc, 1));
    if (which == 1) {
        void *args[] = {&va, &out};
        CHECK(cuLaunchKernel(first, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
        SHOW(cuCtxSynchronize());
        SHOW(cuMemcpyHtoD(va, host, sizeof host));
        SHOW(cuMemcpyDtoH(host, va, sizeof host));
        show_access("read only", va);
    }
    if (which == 3)
        CHECK(cuMemUnmap(va, 2 * g));
    printf("access %d: %s\n", which, error_name(run_add(which == 2 ? va + 2 * g : va, 4, 10)));
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int part = 0; part < 7; part++) {
        pid_t child = fork();
        if (child == 0) {
            start(argv[1]);
            if (part == 0)
                life();
            else if (part == 1)
                shared();
            else if (part == 2)
                wrong();
            else
                faults(part - 3);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("part %d: %d\n", part, status);
    }
    return 0;
}
