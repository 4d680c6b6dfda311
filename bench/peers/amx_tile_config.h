// For building llama.cpp with GCC 12 on a CPU with AMX: force it in with CXXFLAGS="-include
// .../amx_tile_config.h". That compiler's _tile_loadconfig tells it that 8 of the 64 bytes are
// read, so it drops the stores that fill the others, and the first tile instruction dies of SIGILL.
// This one names all 64.
#pragma once

#if defined(__AMX_TILE__)
#include <immintrin.h>

#define _tile_loadconfig(config) \
  __asm__ volatile("ldtilecfg\t%0" ::"m"(*(const char(*)[64])(config)))
#endif
