#pragma once

namespace acgan::cuda {

// Whether a library may round FP32 factors to TF32 (10 bits of mantissa) for tensor cores.
enum class Tf32 { Off, Allowed };

}  // namespace acgan::cuda
