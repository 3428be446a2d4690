/* hash.h - XXH3; on x86 the library's kernel for this CPU (the same values), where it has them. */
#ifndef FTL_SIM_HASH_H
#define FTL_SIM_HASH_H

#include <xxhash.h>
#ifdef WITH_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#endif
