/* Finds the vendor's libnvrtc on this machine. */
#ifndef REPRISE_CUDA_NVRTC_FIND_H
#define REPRISE_CUDA_NVRTC_FIND_H

/* A handle for dlsym; NULL after a message on stderr, which comes once. Names the library as programs do:
 * libnvrtc.so.12. */
void *nvrtc_find(const char *name);

#endif
