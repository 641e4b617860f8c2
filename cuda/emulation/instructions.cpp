#include "cuda/emulation/instructions.h"

#include "tensor/half.h"

namespace acgan::emulation {
namespace {

float widen(std::uint32_t register_half, bool bf16) {
  const auto bits = static_cast<std::uint16_t>(register_half);
  return bf16 ? to_float(BFloat16{bits}) : to_float(Half{bits});
}

// The matrices of one warp's mma, gathered from the registers of its lanes (PTX ISA, "Matrix
// Fragments for mma.m16n8k16" and ".m16n8k8").
struct Fragments {
  float a[16][16], b[16][8], c[16][8];
};

void gather(Mma** lanes, int depth, Fragments& f) {
  for (int lane = 0; lane < 32; ++lane) {
    const Mma& own = *lanes[lane];
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int block = 0; block < depth / 8; ++block) {
      for (int e = 0; e < 2; ++e) {
        const int k = block * 8 + pair + e;
        f.a[group][k] = widen(own.a[2 * block] >> 16 * e, own.bf16);
        f.a[group + 8][k] = widen(own.a[2 * block + 1] >> 16 * e, own.bf16);
        f.b[k][group] = widen(own.b[block] >> 16 * e, own.bf16);
      }
    }
    for (int e = 0; e < 2; ++e) {
      f.c[group][pair + e] = own.c[e];
      f.c[group + 8][pair + e] = own.c[2 + e];
    }
  }
}

void scatter(const Fragments& f, Mma** lanes) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int e = 0; e < 2; ++e) {
      lanes[lane]->c[e] = f.c[group][pair + e];
      lanes[lane]->c[2 + e] = f.c[group + 8][pair + e];
    }
  }
}

}  // namespace

void Mma::run(void** lane, unsigned) {
  Mma** lanes = reinterpret_cast<Mma**>(lane);
  const int depth = lanes[0]->k;
  Fragments f;
  gather(lanes, depth, f);
  for (int m = 0; m < 16; ++m) {
    for (int k = 0; k < depth; ++k) {
      for (int n = 0; n < 8; ++n) f.c[m][n] += f.a[m][k] * f.b[k][n];
    }
  }
  scatter(f, lanes);
  counters.mma_flops += static_cast<std::uint64_t>(2 * 16 * 8 * depth);
}

void Ldmatrix::run(void** lane, unsigned) {
  Ldmatrix** lanes = reinterpret_cast<Ldmatrix**>(lane);
  for (int matrix = 0; matrix < 4; ++matrix) {
    Ldmatrix** rows = lanes + matrix * 8;
    unsigned banks = 0;  // eight rows of 16 bytes are one pass if they lie in eight bank groups
    for (int r = 0; r < 8; ++r) {
      const unsigned bit = 1u << (reinterpret_cast<std::uintptr_t>(rows[r]->address) / 16 % 8);
      counters.ldmatrix_conflicts += (banks & bit) != 0 ? 1 : 0;
      banks |= bit;
    }
    ++counters.ldmatrix_matrices;
    for (int l = 0; l < 32; ++l) {
      const int r = l / 4, c = l % 4 * 2;
      const bool transpose = lanes[l]->transpose;
      const std::uint32_t low = transpose ? rows[c]->row[r] : rows[r]->row[c];
      const std::uint32_t high = transpose ? rows[c + 1]->row[r] : rows[r]->row[c + 1];
      lanes[l]->out[matrix] = low | high << 16;
    }
  }
}

void Shuffle::run(void** lane, unsigned mask) {
  for (unsigned l = 0; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    auto* own = static_cast<Shuffle*>(lane[l]);
    const bool defined = own->source < 32 && (mask >> own->source & 1) != 0;
    own->out =
        defined ? static_cast<Shuffle*>(lane[own->source])->in : ~std::uint64_t{0};  // poison
  }
}

void Vote::run(void** lane, unsigned mask) {
  unsigned ballot = 0;
  for (unsigned l = 0; l < 32; ++l) {
    if ((mask >> l & 1) != 0) {
      ballot |= static_cast<unsigned>(static_cast<Vote*>(lane[l])->predicate) << l;
    }
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((mask >> l & 1) != 0) static_cast<Vote*>(lane[l])->ballot = ballot;
  }
}

}  // namespace acgan::emulation
