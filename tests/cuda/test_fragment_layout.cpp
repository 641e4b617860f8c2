#include <catch2/catch.hpp>

#include "cuda/run_kernel.h"
#include "cuda/tile/mma.cuh"

// The emulated tensor-core instructions against the tables of the PTX ISA ("Matrix Fragments for
// mma.m16n8k8" and ".m16n8k16", "Warp-level matrix load instruction: ldmatrix"), transcribed here
// apart from the emulation: a misreading that kernels and emulation share would cancel out in every
// other test.
namespace acgan::test {
namespace {

struct Place {
  int row, column;
};

// Where element i of a lane's fragment lies. groupID and threadID_in_group as the tables call them.
Place place_in_a(int lane, int i) {  // of m16n8k16; the first four are those of m16n8k8
  const int group_id = lane >> 2, thread_in_group = lane % 4;
  const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
  const int row = upper ? group_id : group_id + 8;
  const int column = i < 4 ? thread_in_group * 2 + (i & 1) : thread_in_group * 2 + (i & 1) + 8;
  return {row, column};
}
Place place_in_b(int lane, int i) {  // of m16n8k16; the first two are those of m16n8k8
  const int group_id = lane >> 2, thread_in_group = lane % 4;
  const int row = i < 2 ? thread_in_group * 2 + (i & 1) : thread_in_group * 2 + (i & 1) + 8;
  return {row, group_id};
}
Place place_in_c(int lane, int i) {
  const int group_id = lane >> 2, thread_in_group = lane % 4;
  return {i < 2 ? group_id : group_id + 8, thread_in_group * 2 + (i & 1)};
}

template <typename T>
struct Fragments {
  T a[32][8], b[32][4];
  float c[32][4];
};

// Two elements of 16 bits in a register, the first in its lower half.
template <typename T>
std::uint32_t in_register(const T* elements) {
  return elements[0].bits | static_cast<std::uint32_t>(elements[1].bits) << 16;
}

template <typename T>
void product_kernel(Fragments<T>* f, int depth) {
  const auto lane = threadIdx.x;
  std::uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = in_register(f->a[lane] + 2 * i);
  for (int i = 0; i < 2; ++i) b[i] = in_register(f->b[lane] + 2 * i);
  if (depth == 16) {
    cuda::mma_m16n8k16<T>(f->c[lane], a, b[0], b[1]);
  } else {
    emulation::mma(f->c[lane], a, b, 8, std::is_same_v<T, BFloat16>);
  }
}

// c += a * b of integers that both types hold exactly.
template <typename T>
void check_product(int depth) {
  const auto a = [](int m, int k) { return (m * 16 + k) * 37 % 61 - 30; };
  const auto b = [](int k, int n) { return (k * 8 + n) * 29 % 53 - 26; };
  const auto c = [](int m, int n) { return m * 8 + n; };
  Fragments<T> f{};
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < depth / 2; ++i) {
      const Place p = place_in_a(lane, i);
      f.a[lane][i] = from_float<T>(static_cast<float>(a(p.row, p.column)));
    }
    for (int i = 0; i < depth / 4; ++i) {
      const Place p = place_in_b(lane, i);
      f.b[lane][i] = from_float<T>(static_cast<float>(b(p.row, p.column)));
    }
    for (int i = 0; i < 4; ++i) {
      const Place p = place_in_c(lane, i);
      f.c[lane][i] = static_cast<float>(c(p.row, p.column));
    }
  }
  run_kernel({}, product_kernel<T>, &f, depth);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const Place p = place_in_c(lane, i);
      int expected = c(p.row, p.column);
      for (int k = 0; k < depth; ++k) expected += a(p.row, k) * b(k, p.column);
      INFO("lane " << lane << ", element " << i);
      CHECK(f.c[lane][i] == static_cast<float>(expected));
    }
  }
}

struct Matrices {
  std::uint16_t in[4][8][8];
  std::uint16_t out[32][4][2];  // lane, register, half
};

void load_matrices_kernel(Matrices* m, bool transposed) {
  using Stage = std::uint16_t[4][8][8];
  SHARED(Stage, stage);
  const auto lane = threadIdx.x;
  // Lanes 0-7 give the rows of matrix 0, lanes 8-15 those of matrix 1, and so on.
  std::uint16_t(&row)[8] = stage[lane / 8][lane % 8];
  for (int i = 0; i < 8; ++i) row[i] = m->in[lane / 8][lane % 8][i];
  __syncwarp();
  std::uint32_t registers[4];
  if (transposed) {
    cuda::ldmatrix_x4_transposed(registers, row);
  } else {
    cuda::ldmatrix_x4(registers, row);
  }
  for (int i = 0; i < 4; ++i) {
    m->out[lane][i][0] = static_cast<std::uint16_t>(registers[i]);
    m->out[lane][i][1] = static_cast<std::uint16_t>(registers[i] >> 16);
  }
}

}  // namespace

TEST_CASE("mma.m16n8k16 has the fragments of the PTX ISA", "[cuda][layout]") {
  const Setting arch(emulation::settings.arch, 800);
  check_product<Half>(16);
  check_product<BFloat16>(16);
}

TEST_CASE("mma.m16n8k8 has the fragments of the PTX ISA", "[cuda][layout]") {
  check_product<Half>(8);
  check_product<BFloat16>(8);
}

TEST_CASE("two mma.m16n8k8 stand for one m16n8k16 on sm_75", "[cuda][layout]") {
  const Setting arch(emulation::settings.arch, 750);
  check_product<Half>(16);
  REQUIRE_THROWS_WITH(check_product<BFloat16>(16), Catch::Contains("bf16 needs sm_80"));
}

TEST_CASE("ldmatrix distributes four matrices as the PTX ISA says", "[cuda][layout]") {
  const bool transposed = GENERATE(false, true);
  CAPTURE(transposed);
  Matrices m{};
  for (int matrix = 0; matrix < 4; ++matrix) {
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        m.in[matrix][row][column] = static_cast<std::uint16_t>(matrix * 100 + row * 10 + column);
      }
    }
  }
  run_kernel({}, load_matrices_kernel, &m, transposed);
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      for (int half = 0; half < 2; ++half) {
        // Row lane/4 goes to four lanes, two neighbouring elements each.
        const int major = lane / 4, minor = lane % 4 * 2 + half;
        const int row = transposed ? minor : major, column = transposed ? major : minor;
        INFO("lane " << lane << ", register " << matrix << ", half " << half);
        CHECK(m.out[lane][matrix][half] == matrix * 100 + row * 10 + column);
      }
    }
  }
}

}  // namespace acgan::test
