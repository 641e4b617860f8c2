#pragma once

// A function that runs on the host and, when CUDA compiles it, on the device.
#if defined(__CUDACC__)
#define ACGAN_HOST_DEVICE __host__ __device__
#else
#define ACGAN_HOST_DEVICE
#endif
