#include "backend/cpu/packed_gemm.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backend/cpu/gemm_blocking.h"
#include "backend/cpu/gemm_kernel.h"
#include "base/error.h"

namespace acgan {
namespace {

using gemm::Blocking;
using gemm::kTileColumns;
using gemm::kTileRows;
using gemm::Pieces;
using gemm::Range;
using gemm::Side;
using gemm::TileStore;

// Below this many multiply-adds, waking the threads takes longer than the work.
constexpr std::int64_t kSerialBelow = 200'000;

// Depth of one share of a product whose depth is split among tasks, and the largest result that is
// summed in that way.
constexpr std::int64_t kSplitDepth = 2048;
constexpr std::int64_t kSplitResult = 16384;

constexpr std::int64_t kUnitsPerPackingTask = 8;

// Where the sums of some strips and panels go: element [row, column] of the product lies at
// data[(row - first_row) * stride + column - first_column].
struct SumPlace {
  float* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t first_row = 0, first_column = 0;
  std::int64_t columns = 0;  // that exist in memory
  TileStore store = TileStore::Overwrite;
};

struct PackedBlock {
  Range strips, panels;
  std::int64_t depth = 0;
  const float* left = nullptr;   // strip strips.begin
  const float* right = nullptr;  // panel panels.begin
};

// Packing that goes on between a number of kernel calls, evenly, and is done after the last.
class PackingAhead {
 public:
  explicit PackingAhead(gemm::LineQueue& lines) : lines_(lines) {}
  PackingAhead(gemm::LineQueue& lines, const gemm::BlockPacking& packing, std::int64_t calls)
      : lines_(lines), packing_(packing), calls_(calls) {
    for (std::int64_t slice = 0; slice < kPrefetched; ++slice) packing_.list_lines(slice, lines_);
  }

  // What a kernel call of this depth shall prefetch.
  const void* const* lines(std::int64_t depth) { return lines_.take(depth / gemm::kWidth); }

  void after_call() {
    const std::int64_t due = ++call_ * packing_.slices() / calls_;
    for (; done_ < due; ++done_) {
      packing_.list_lines(done_ + kPrefetched, lines_);
      packing_.pack(done_);
    }
  }

 private:
  static constexpr std::int64_t kPrefetched = 2;  // slices

  gemm::LineQueue& lines_;
  gemm::BlockPacking packing_;
  std::int64_t calls_ = 1;
  std::int64_t call_ = 0;
  std::int64_t done_ = 0;
};

// A tile that is narrower in memory than the kernel stores it.
void multiply_edge_tile(const PackedBlock& block, std::int64_t rows, const float* strip,
                        const float* panel, const SumPlace& place, float* c, std::int64_t columns,
                        const void* const* lines) {
  alignas(64) float tile[kTileRows * kTileColumns];
  gemm::tile_kernel(rows, TileStore::Overwrite)(block.depth, strip, panel, tile, kTileColumns,
                                                lines);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float& sum = c[i * place.stride + j];
      const float value = tile[i * kTileColumns + j];
      sum = place.store == TileStore::Add ? sum + value : value;
    }
  }
}

// The panel stays in L1 while the strips pass by.
void multiply_block(const PackedBlock& block, const gemm::Strips& strips, const SumPlace& place,
                    PackingAhead& ahead) {
  const float* panel = block.right;
  for (std::int64_t p = block.panels.begin; p < block.panels.end; ++p) {
    const std::int64_t column = p * kTileColumns - place.first_column;
    const std::int64_t columns = std::min<std::int64_t>(kTileColumns, place.columns - column);
    const float* strip = block.left;
    for (std::int64_t s = block.strips.begin; s < block.strips.end; ++s) {
      const std::int64_t rows = strips.height(s);
      float* c = place.data + (strips.begin(s) - place.first_row) * place.stride + column;
      const void* const* lines = ahead.lines(block.depth);
      if (columns == kTileColumns) {
        gemm::tile_kernel(rows, place.store)(block.depth, strip, panel, c, place.stride, lines);
      } else {
        multiply_edge_tile(block, rows, strip, panel, place, c, columns, lines);
      }
      strip += gemm::strip_size(block.depth);
      ahead.after_call();
    }
    panel += gemm::panel_size(block.depth);
  }
}

Range rows_of(const gemm::Strips& strips, const Range& range) {
  return {strips.begin(range.begin), strips.begin(range.end)};
}

Range columns_of(const gemm::Panels& panels, const Range& range) {
  return {range.begin * kTileColumns, std::min(range.end * kTileColumns, panels.columns)};
}

// One product in the making, and its working memory.
class BlockedProduct {
 public:
  BlockedProduct(const Product& product, const Blocking& blocking)
      : product_(product), blocking_(blocking) {}

  std::int64_t shared_floats() const { return blocking_.depth.number() * resident_block_size(); }
  std::int64_t private_floats() const {
    return sums_size() + 2 * streamed_size() +
           gemm::BlockPacking::scratch_floats(std::max(blocking_.stream.step, kUnitsPerPackingTask),
                                              blocking_.depth.step);
  }

  // Packs the whole resident operand; the parallel region's threads share the work.
  void pack_resident(float* shared, float* scratch) const {
    const Pieces units(blocking_.resident.count, kUnitsPerPackingTask);
#pragma omp for schedule(static) collapse(2)
    for (std::int64_t d = 0; d < blocking_.depth.number(); ++d) {
      for (std::int64_t u = 0; u < units.number(); ++u) {
        const Range depth = blocking_.depth[d];
        float* packed = shared + d * resident_block_size() +
                        units[u].begin * blocking_.resident_size(depth.size());
        if (blocking_.streamed == Side::Left) {
          gemm::BlockPacking(product_.right, blocking_.panels, units[u], depth, packed, scratch)
              .pack_all();
        } else {
          gemm::BlockPacking(product_.left, blocking_.strips, units[u], depth, packed, scratch)
              .pack_all();
        }
      }
    }
  }

  // One thread's part: takes tasks from `next_task` until there are no more. While it multiplies a
  // block of a task it packs the next one, of the same task or of the one after it.
  void run_tasks(std::atomic<std::int64_t>& next_task, const float* shared, float* scratch) const {
    gemm::LineQueue lines;
    float* streamed = scratch + sums_size();
    float* streamed_next = streamed + streamed_size();
    float* const packing_scratch = streamed_next + streamed_size();
    Step step{next_task++, 0};
    if (step.task < blocking_.tasks()) packing(step, streamed, packing_scratch).pack_all();
    while (step.task < blocking_.tasks()) {
      const bool last = step.depth_block + 1 == blocking_.depth.number();
      const Step next = last ? Step{next_task++, 0} : Step{step.task, step.depth_block + 1};
      PackingAhead ahead = next.task < blocking_.tasks()
                               ? PackingAhead(lines, packing(next, streamed_next, packing_scratch),
                                              kernel_calls(step.task))
                               : PackingAhead(lines);
      multiply(step, streamed, shared, scratch, ahead);
      if (last && product_.sink != nullptr) store_sums(step.task, scratch);
      std::swap(streamed, streamed_next);
      step = next;
    }
  }

 private:
  struct Step {
    std::int64_t task = 0;
    std::int64_t depth_block = 0;
  };

  std::int64_t kernel_calls(std::int64_t task) const {
    return blocking_.task_strips(task).size() * blocking_.task_panels(task).size();
  }

  gemm::BlockPacking packing(const Step& step, float* streamed, float* scratch) const {
    const Range depth = blocking_.depth[step.depth_block];
    if (blocking_.streamed == Side::Left) {
      return {product_.left, blocking_.strips, blocking_.task_strips(step.task),
              depth,         streamed,         scratch};
    }
    return {product_.right, blocking_.panels, blocking_.task_panels(step.task),
            depth,          streamed,         scratch};
  }

  void multiply(const Step& step, const float* streamed, const float* shared, float* sums,
                PackingAhead& ahead) const {
    const Range strips = blocking_.task_strips(step.task);
    const Range panels = blocking_.task_panels(step.task);
    const std::int64_t depth = blocking_.depth[step.depth_block].size();
    PackedBlock block{strips, panels, depth, streamed, streamed};
    const float* resident = shared + step.depth_block * resident_block_size();
    if (blocking_.streamed == Side::Left) {
      block.right = resident + panels.begin * gemm::panel_size(depth);
    } else {
      block.left = resident + strips.begin * gemm::strip_size(depth);
    }
    SumPlace place = place_of(step.task, sums);
    if (step.depth_block > 0) place.store = TileStore::Add;
    multiply_block(block, blocking_.strips, place, ahead);
  }

  void store_sums(std::int64_t task, const float* sums) const {
    const Range rows = rows_of(blocking_.strips, blocking_.task_strips(task));
    const Range columns = columns_of(blocking_.panels, blocking_.task_panels(task));
    product_.sink->store(rows.begin, rows.size(), columns.begin, columns.size(), sums,
                         blocking_.task_stride());
  }

  std::int64_t resident_block_size() const {
    return blocking_.resident.count * blocking_.resident_size(blocking_.depth.step);
  }
  std::int64_t streamed_size() const {
    return blocking_.stream.step * blocking_.stream_size(blocking_.depth.step);
  }
  std::int64_t sums_size() const {
    return product_.sink == nullptr ? 0 : blocking_.task_rows() * blocking_.task_stride();
  }

  // The task's sums: in working memory, whole tiles, or where the result is wanted.
  SumPlace place_of(std::int64_t task, float* sums) const {
    const Range rows = rows_of(blocking_.strips, blocking_.task_strips(task));
    const Range columns = columns_of(blocking_.panels, blocking_.task_panels(task));
    if (product_.sink != nullptr) {
      return {.data = sums,
              .stride = blocking_.task_stride(),
              .first_row = rows.begin,
              .first_column = columns.begin,
              .columns = gemm::round_up(columns.size(), kTileColumns)};
    }
    return {.data = product_.output + rows.begin * product_.columns + columns.begin,
            .stride = product_.columns,
            .first_row = rows.begin,
            .first_column = columns.begin,
            .columns = columns.size(),
            .store =
                product_.accumulation == Accumulation::Add ? TileStore::Add : TileStore::Overwrite};
  }

  const Product& product_;
  const Blocking& blocking_;
};

}  // namespace

std::size_t PackedGemm::workspace_bytes() const {
  std::size_t bytes = shared_.bytes();
  for (const ScratchMemory& scratch : private_) bytes += scratch.bytes();
  return bytes;
}

float* ScratchMemory::floats(std::int64_t count) {
  constexpr std::size_t kAlignment = 64;
  if (count > count_) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
    memory_.reset();
    count_ = 0;
    memory_.reset(static_cast<float*>(
        std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment)));
    if (memory_ == nullptr) {
      fail(ErrorKind::Device,
           "the matrix product could not get {} MiB of working memory, use a smaller batch",
           bytes >> 20);
    }
    count_ = count;
  }
  return memory_.get();
}

void ScratchMemory::Free::operator()(float* memory) const { std::free(memory); }

void PackedGemm::multiply(const Product& product, int threads) {
  ACGAN_CHECK((product.sink == nullptr) != (product.output == nullptr));
  if (product.rows == 0 || product.columns == 0) return;
  const std::int64_t result = product.rows * product.columns;
  const int active = result * product.depth < kSerialBelow ? 1 : threads;
  if (private_.size() < static_cast<std::size_t>(active)) {
    private_.resize(static_cast<std::size_t>(active));
  }
  if (result <= kSplitResult && product.depth >= 2 * kSplitDepth) {
    multiply_split_depth(product, active);
  } else {
    multiply_blocks(product, active);
  }
}

void PackedGemm::multiply_blocks(const Product& product, int threads) {
  const Blocking blocking =
      gemm::choose_blocking(product.rows, product.columns, product.depth, threads);
  const BlockedProduct work(product, blocking);
  float* const shared = shared_.floats(work.shared_floats());
  for (ScratchMemory& memory : private_) memory.floats(work.private_floats());
  std::atomic<std::int64_t> next_task = 0;
#pragma omp parallel num_threads(threads)
  {
    float* const scratch =
        private_[static_cast<std::size_t>(omp_get_thread_num())].floats(work.private_floats());
    work.pack_resident(shared, scratch);
    work.run_tasks(next_task, shared, scratch);
  }
}

// For small results of great depth (the weight gradients of thin convolutions) the tasks are
// ranges of the depth. Each one's sums are kept, then added up in order.
void PackedGemm::multiply_split_depth(const Product& product, int threads) {
  const gemm::Strips strips{product.rows};
  const gemm::Panels panels{product.columns};
  const Range all_strips{0, strips.count()};
  const Range all_panels{0, panels.count()};
  const Pieces shares(product.depth, kSplitDepth, gemm::kDepthBlock);
  const std::int64_t stride = panels.count() * kTileColumns;
  const std::int64_t share_size = gemm::round_up(product.rows * stride, gemm::kWidth);
  const std::int64_t left_size = strips.count() * gemm::strip_size(gemm::kDepthBlock);
  const std::int64_t right_size = panels.count() * gemm::panel_size(gemm::kDepthBlock);
  const std::int64_t private_size =
      left_size + right_size +
      gemm::BlockPacking::scratch_floats(strips.count(), gemm::kDepthBlock);
  float* const sums = shared_.floats(shares.number() * share_size);
  for (ScratchMemory& memory : private_) memory.floats(private_size);
#pragma omp parallel num_threads(threads)
  {
    gemm::LineQueue no_lines;
    PackingAhead no_packing(no_lines);
    float* const left =
        private_[static_cast<std::size_t>(omp_get_thread_num())].floats(private_size);
    float* const right = left + left_size;
    float* const scratch = right + right_size;
#pragma omp for schedule(dynamic)
    for (std::int64_t share = 0; share < shares.number(); ++share) {
      SumPlace place{.data = sums + share * share_size, .stride = stride, .columns = stride};
      for (Range depth{shares[share].begin, 0}; depth.begin < shares[share].end;
           depth.begin = depth.end) {
        depth.end = std::min(depth.begin + gemm::kDepthBlock, shares[share].end);
        gemm::BlockPacking(product.left, strips, all_strips, depth, left, scratch).pack_all();
        gemm::BlockPacking(product.right, panels, all_panels, depth, right, scratch).pack_all();
        multiply_block({all_strips, all_panels, depth.size(), left, right}, strips, place,
                       no_packing);
        place.store = TileStore::Add;
      }
    }
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < product.rows; ++row) {
      float* total = sums + row * stride;
      for (std::int64_t share = 1; share < shares.number(); ++share) {
        const float* part = total + share * share_size;
        for (std::int64_t j = 0; j < product.columns; ++j) total[j] += part[j];
      }
    }
  }
  if (product.sink != nullptr) {
    product.sink->store(0, product.rows, 0, product.columns, sums, stride);
    return;
  }
  const gemm::SinkOptions options{.accumulation = product.accumulation};
  gemm::MatrixSink<float>(product.output, product.columns, options)
      .store(0, product.rows, 0, product.columns, sums, stride);
}

}  // namespace acgan
