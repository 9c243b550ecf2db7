/* Stands for a program with the CUDA runtime linked in statically: device code, but no CUDA library that is
 * needed. */
__attribute__((section(".nv_fatbin"), used)) static const char device_code[] = "device code";

int main(void) {
    return 0;
}
