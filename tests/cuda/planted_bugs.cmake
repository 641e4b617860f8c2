# Does the emulated device find the bugs it is there to find? Typical ones are planted in copies of
# our kernels, one chosen at run time, and each must be found by the tools named here. The kernels
# themselves know nothing of it.
#
# planted(FILE [[text]] [[instead]]): in the copy of cuda/FILE, `text` (which stands there exactly
# once) is replaced. Where it is not found, the kernel has changed: say here how it looks now.
set(planted_files "")
set(outdated_plants "")
function(planted file text instead)
  if(NOT file IN_LIST planted_files)
    file(READ ${PROJECT_SOURCE_DIR}/cuda/${file} copy)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                 ${PROJECT_SOURCE_DIR}/cuda/${file})
    set(planted_files ${planted_files} ${file} PARENT_SCOPE)
  else()
    set(copy "${copy_of_${file}}")
  endif()
  string(FIND "${copy}" "${text}" first)
  string(FIND "${copy}" "${text}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(WARNING "tests/cuda/planted_bugs.cmake: this is not once in cuda/${file}:\n${text}")
    set(outdated_plants ${outdated_plants} ${file} PARENT_SCOPE)
  endif()
  string(REPLACE "${text}" "${instead}" copy "${copy}")
  set(copy_of_${file} "${copy}" PARENT_SCOPE)
endfunction()

# bug(NAME WORKLOAD [PLAIN regex] [ASAN regex] [TSAN regex]): the bug `Plant::NAME`, the operation
# that shows it (planted_bugs.cpp), and what each kind of build prints where it is found.
set(bug_names "")
function(bug name workload)
  cmake_parse_arguments(BUG "" "PLAIN;ASAN;TSAN" "" ${ARGN})
  set(bug_names ${bug_names} ${name} PARENT_SCOPE)
  set(bug_workload_${name} ${workload} PARENT_SCOPE)
  foreach(tool PLAIN ASAN TSAN)
    set(bug_${tool}_${name} "${BUG_${tool}}" PARENT_SCOPE)
  endforeach()
endfunction()
set(always_wrong "in_order: 10 wrong.*reverse: 10 wrong.*uniform: 10 wrong.*priority: 10 wrong")
set(wrong_by_priority "priority: [1-9][0-9]* wrong")
set(stray_writes "priority: .* 10 stray writes")
set(refused "priority: .* 10 faults")
set(race "ThreadSanitizer: data race")
set(out_of_bounds "AddressSanitizer: (use-after-poison|heap-buffer-overflow)")

# ---- the pipeline of the tensor-core convolutions
planted(tile/tensor_core_product.cuh
[[
    async_wait_for_stage();
    __syncthreads();
    const int next = step + stages - 1;
    if (next < steps) {
      fetch(next, writes);
    } else {
      async_commit();
    }
]]
[[
    const int next = step + stages - 1;
    const auto fetch_next = [&] {
      if (next < steps) {
        fetch(next, writes);
      } else {
        async_commit();
      }
    };
    const bool early = is_planted(Plant::fetch_before_barrier);
    if (early) fetch_next();
    if (is_planted(Plant::short_wait) || early) {
      async_wait<3>();
    } else if (!is_planted(Plant::no_wait)) {
      async_wait_for_stage();
    }
    if (is_planted(Plant::divergent_barrier) && threadIdx.x / 32 == 1 && step == 2) {
      __syncthreads();
    } else if (!is_planted(Plant::no_barrier)) {
      __syncthreads();
    }
    if (!early) fetch_next();
]])
bug(no_wait forward PLAIN "${always_wrong}")
bug(short_wait forward PLAIN "${always_wrong}")
bug(no_barrier forward PLAIN "${wrong_by_priority}" TSAN "${race}")
bug(fetch_before_barrier forward PLAIN "${wrong_by_priority}" TSAN "${race}")
bug(divergent_barrier forward PLAIN "${refused}.*divergent barrier")

planted(tile/tensor_core_product.cuh
[[    const int depth = depth0 + step * Tile::kK;]]
[[    const int depth = depth0 + step * Tile::kK;
    if (is_planted(Plant::stage_overrun) && depth + Tile::kK >= depth_end) stage = stages;]])
bug(stage_overrun forward PLAIN "${refused}.*cp.async: destination is not in shared memory")

planted(tile/tensor_core_product.cuh
[[    if (next < steps) deposit(writes);]]
[[    const bool overrun = is_planted(Plant::deposit_overrun) && next == steps - 1;
    if (next < steps) deposit(overrun ? stages : writes);]])
bug(deposit_overrun forward_sm75 ASAN "AddressSanitizer: heap-buffer-overflow")

# ---- tiles in shared memory
planted(tile/operand_tile.cuh
[[                  stage + offset(outer + lane / 16 * 8 + lane % 8, depth / 8 + lane / 8 % 2));]]
[[                  stage + offset(outer + lane / 16 * 8 + lane % 8,
                                 (depth / 8 + lane / 8 % 2) ^
                                     (is_planted(Plant::swapped_chunks) ? 1 : 0)));]])
bug(swapped_chunks forward PLAIN "${always_wrong}")

planted(tile/operand_tile.cuh
[[    return (line * kChunks + (chunk ^ (line / kLinesPerPass & kMask))) * 8;]]
[[    if (is_planted(Plant::no_swizzle)) return (line * kChunks + chunk) * 8;
    return (line * kChunks + (chunk ^ (line / kLinesPerPass & kMask))) * 8;]])
bug(no_swizzle forward PLAIN "priority: 0 wrong.* [1-9][0-9]* bank conflicts")

planted(tile/operand_tile.cuh
[[      async_copy16(stage + offset(line_of(slot), chunk_),]]
[[      async_copy16(stage + offset(line_of(slot), chunk_) +
                       (is_planted(Plant::misaligned_copy) ? 4 : 0),]])
bug(misaligned_copy forward PLAIN "${refused}.*destination is not 16-byte aligned")

# ---- edges of the tensors
planted(tile/conv_operands.cuh
[[    const int h = line.top + step.row, w = line.left + step.column;
    const bool inside = line.image != nullptr && lies_in(h, sizes.in_h) && lies_in(w, sizes.in_w);]]
[[    const int h = line.top + step.row, w = line.left + step.column;
    const bool inside =
        line.image != nullptr && (is_planted(Plant::no_padding_check) ||
                                  (lies_in(h, sizes.in_h) && lies_in(w, sizes.in_w)));]])
bug(no_padding_check forward PLAIN "${always_wrong}" ASAN "${out_of_bounds}")

planted(kernels/conv_forward.cu
[[    return pixel0 + m < pixels ?]]
[[    return pixel0 + m < pixels || is_planted(Plant::no_tail_check) ?]])
bug(no_tail_check forward PLAIN "${stray_writes}" ASAN "${out_of_bounds}")

planted(tile/conv_operands.cuh
[[    if (index >= end) return {nullptr, 0, 0};]]
[[    if (index >= end && !is_planted(Plant::no_depth_check)) return {nullptr, 0, 0};]])
bug(no_depth_check backward_weight PLAIN "${always_wrong}" ASAN "${out_of_bounds}")

# ---- several blocks
planted(kernels/conv_backward_weight.cu
[[  float* const out = partials + static_cast<std::int64_t>(blockIdx.z) * rows * columns;]]
[[  const auto split = is_planted(Plant::shared_partials) ? 0 : std::int64_t{blockIdx.z};
  float* const out = partials + split * rows * columns;]])
bug(shared_partials backward_weight PLAIN "${always_wrong}" TSAN "${race}")

# Blocks run one after another here, so only the thread sanitizer can see this one.
planted(kernels/optimizer.cu
[[atomicOr(&state->nonfinite, 1);]]
[[{
    if (is_planted(Plant::no_atomic)) {
      state->nonfinite |= 1;
    } else {
      atomicOr(&state->nonfinite, 1);
    }
  }]])
bug(no_atomic nonfinite TSAN "${race}")

# ---- reductions
planted(tile/reduce.cuh
[[  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return T{};]]
[[  const unsigned shift = is_planted(Plant::slot_overrun) ? 17 : 0;
  if (threadIdx.x % 32 == 0) (&warps[0])[threadIdx.x / 32 + shift] = value;
  if (!is_planted(Plant::sum_without_barrier)) __syncthreads();
  if (threadIdx.x >= (is_planted(Plant::lanes_returned) ? blockDim.x / 32 : 32)) return T{};]])
bug(sum_without_barrier loss PLAIN "${wrong_by_priority}" TSAN "${race}")
bug(lanes_returned loss PLAIN "${refused}.*(names lanes that have returned|deadlock)")
bug(slot_overrun loss ASAN "AddressSanitizer: heap-buffer-overflow")

planted(tile/columns.cuh
[[  for (; half > 0; half /= 2) {
    __syncthreads();
    if (lane >= half) continue;
    if (lane + half < lanes) {]]
[[  for (; half > 0; half /= 2) {
    if (!is_planted(Plant::tree_without_barrier)) __syncthreads();
    if (lane >= half) continue;
    if (lane + half < lanes || is_planted(Plant::tree_overread)) {]])
bug(tree_without_barrier column_sums PLAIN "${wrong_by_priority}" TSAN "${race}")
bug(tree_overread column_sums
  PLAIN "${always_wrong}" ASAN "index [0-9]+ out of bounds|AddressSanitizer: heap-buffer-overflow")

planted(kernels/conv_thin_backward_data.cu
[[  __syncthreads();

  const int row_size]]
[[  if (!is_planted(Plant::gather_without_barrier)) __syncthreads();

  const int row_size]])
bug(gather_without_barrier thin_backward_data PLAIN "${wrong_by_priority}" TSAN "${race}")

# ---- writes the copies and planted.h, which every kernel is compiled with
set(planted_folder ${CMAKE_CURRENT_BINARY_DIR}/planted)
foreach(file ${planted_files})
  file(CONFIGURE OUTPUT ${planted_folder}/cuda/${file} CONTENT "${copy_of_${file}}" @ONLY)
endforeach()
list(JOIN bug_names ", " plant_list)
list(JOIN bug_names "\", \"" plant_texts)
file(CONFIGURE OUTPUT ${planted_folder}/planted.h @ONLY CONTENT [[
#pragma once
namespace acgan::cuda {
enum class Plant { none, @plant_list@ };
inline constexpr const char* kPlantNames[] = {"none", "@plant_texts@"};
inline Plant chosen_plant = Plant::none;
inline bool is_planted(Plant plant) { return plant == chosen_plant; }
}  // namespace acgan::cuda
]])
