/* How often functions run, as far as the compiler has to know. */
#ifndef REPRISE_BASE_OFTEN_H
#define REPRISE_BASE_OFTEN_H

/* Of functions on the way of every instruction: they are part of who calls them where they are compiled
 * together. */
#ifdef __clang__
#define EVERY_TIME /* it does not like it of functions that others see, too */
#else
#define EVERY_TIME inline __attribute__((always_inline))
#endif
/* Of functions with several callers, or on no instruction's usual way: kept out of who calls them, so that
 * what runs every time needs few lines of the host's cache. With mechanisms they run often, so they are not
 * `cold` to the compiler. */
#define APART __attribute__((noinline))
/* Of what is used from outside of a part of the program that is compiled as if it were all of it. */
#ifdef __clang__
#define FROM_OUTSIDE /* it compiles no part so */
#else
#define FROM_OUTSIDE __attribute__((externally_visible))
#endif
/* Makes the compiler forget how a pointer was computed: where it runs out of registers it then reads the
 * pointer back, instead of computing it again, which takes several instructions. */
#define KEEP(pointer) __asm__("" : "+r"(pointer))

#endif
