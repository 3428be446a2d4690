/* dispatch.c - which kernel runs. */
#include "kern.h"

static unsigned cpu_mask = ~0u;

static unsigned cpu_has(void)
{
    unsigned has = 0;
#if defined __x86_64__ && defined __GNUC__
    __builtin_cpu_init(); /* also asks the OS (XGETBV) whether wide registers are saved */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") &&
        __builtin_cpu_supports("popcnt")) {
        has |= LDPC_CPU_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
            has |= LDPC_CPU_AVX512;
    }
#endif
    return has;
}

void ldpc_set_cpu_mask(unsigned mask)
{
    cpu_mask = mask;
}

const struct kern *ldpci_kern_now(void)
{
    unsigned use = cpu_mask & cpu_has();
    return use & LDPC_CPU_AVX512 ? &ldpci_kern_avx512
           : use & LDPC_CPU_AVX2 ? &ldpci_kern_avx2
                                 : &ldpci_kern_c;
}

const char *ldpc_kernel_name(void)
{
    return ldpci_kern_now()->name;
}
