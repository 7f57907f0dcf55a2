// Marks functions that nvcc compiles for the device, too.
#pragma once

#ifdef __CUDACC__
#define KK_EVERYWHERE __host__ __device__
#else
#define KK_EVERYWHERE
#endif
