#pragma once

struct CUstream_st;  // CUDA's name for what a stream handle points at

namespace acgan::cuda {

// Work queue of a device, in order. The same handle on the real and on the emulated device.
using Stream = CUstream_st*;

}  // namespace acgan::cuda
