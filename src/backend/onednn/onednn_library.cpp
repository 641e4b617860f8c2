#include "backend/onednn/onednn_library.h"

#include <omp.h>

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "base/error.h"

namespace acgan {
namespace {

std::string_view name_of(OneDnnOperation operation) {
  switch (operation) {
    case OneDnnOperation::ConvForward:
      return "conv2d_forward";
    case OneDnnOperation::ConvBackwardData:
      return "conv2d_backward_data";
    case OneDnnOperation::ConvBackwardWeight:
      return "conv2d_backward_weight";
    case OneDnnOperation::DenseForward:
      return "dense_forward";
    case OneDnnOperation::DenseBackwardData:
      return "dense_backward_data";
    case OneDnnOperation::DenseBackwardWeight:
      return "dense_backward_weight";
  }
  ACGAN_CHECK(!"known operation");
}

bool is_convolution(OneDnnOperation operation) {
  return operation == OneDnnOperation::ConvForward ||
         operation == OneDnnOperation::ConvBackwardData ||
         operation == OneDnnOperation::ConvBackwardWeight;
}

std::string text(const OneDnnKey& key) {
  const ConvGeometry& g = key.geometry;
  std::string shape = fmt::format("{} -> {}", g.in_c, g.out_c);
  if (is_convolution(key.operation)) {
    shape = fmt::format("{}x{}x{} -> {}x{}x{} k{} s{} p{}", g.in_h, g.in_w, g.in_c, g.out_h,
                        g.out_w, g.out_c, g.kernel, g.stride, g.pad);
  }
  const bool add = key.accumulation == Accumulation::Add;
  return fmt::format("{} n{} {} {}{}", name_of(key.operation), key.batch, shape,
                     name_of(key.inputs), add ? " add" : "");
}

[[noreturn]] void report(const dnnl::error& error, std::string_view work) {
  if (error.status == dnnl_out_of_memory) {
    fail(ErrorKind::Device, "out of memory while oneDNN ran {}; use a smaller batch", work);
  }
  fail(ErrorKind::Device, "oneDNN was expected to run {} but reported: {} (status {})", work,
       error.what(), static_cast<int>(error.status));
}

dnnl::reorder build_reorder(const dnnl::engine& engine, const dnnl::memory::desc& from,
                            const dnnl::memory::desc& to) {
  try {
    return dnnl::reorder(dnnl::reorder::primitive_desc(engine, from, engine, to));
  } catch (const dnnl::error& error) {
    report(error, "a reorder of weights");
  }
}

// Rows of `layout` lie further apart than those of the plain array, and nothing else differs.
bool only_pads_rows(const dnnl::memory::desc& layout, const dnnl::memory::desc& plain) {
  const dnnl_memory_desc_t& a = layout.data;
  const dnnl_memory_desc_t& b = plain.data;
  return a.ndims == 2 && b.ndims == 2 && a.format_kind == dnnl_blocked &&
         a.format_desc.blocking.inner_nblks == 0 && a.format_desc.blocking.strides[1] == 1 &&
         b.format_desc.blocking.strides[1] == 1;
}

// oneDNN copies between such layouts with its slowest loop: 5 ms for 25 MB instead of 2.
void pad_rows(const Tensor& w, std::int64_t row_stride, void* destination, int threads) {
  const std::size_t row_bytes = static_cast<std::size_t>(w.row_size()) * size_of(w.dtype);
  const std::size_t stride_bytes = static_cast<std::size_t>(row_stride) * size_of(w.dtype);
  const std::byte* const from = static_cast<const std::byte*>(w.data);
  std::byte* const to = static_cast<std::byte*>(destination);
  const std::size_t rows = static_cast<std::size_t>(w.rows());
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * stride_bytes, from + row * row_bytes, row_bytes);
  }
}

}  // namespace

bool onednn_computes_in(DType type) {
  if (type == DType::F32) return true;
  if (type != DType::BF16) return false;
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());  // a set of bits
  constexpr auto kBf16 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (isa & kBf16) == kBf16;
}

dnnl::memory::data_type onednn_type(DType type) {
  switch (type) {
    case DType::F32:
      return dnnl::memory::data_type::f32;
    case DType::BF16:
      return dnnl::memory::data_type::bf16;
    default:
      ACGAN_CHECK(!"a type that oneDNN computes in");
  }
}

OneDnnLibrary::OneDnnLibrary(int threads)
    : threads_(threads), memory_(threads), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

// oneDNN takes OpenMP's number of threads, which belongs to the calling thread, both when it
// compiles a primitive and when it runs it; the two must agree.
void OneDnnLibrary::use_own_threads() const {
  if (omp_get_max_threads() != threads_) omp_set_num_threads(threads_);
}

const OneDnnPrimitive& OneDnnLibrary::find(const OneDnnKey& key) {
  for (const auto& entry : entries_) {
    if (entry->key == key) return entry->primitive;
  }
  use_own_threads();
  auto entry = std::make_unique<Entry>(Entry{key, {}});
  try {
    entry->primitive =
        is_convolution(key.operation) ? build_convolution(engine_, key) : build_dense(engine_, key);
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented) report(error, text(key));
    entry->primitive.implementation = "no implementation, not even ref";
  }
  entries_.push_back(std::move(entry));
  return entries_.back()->primitive;
}

void OneDnnLibrary::run(const dnnl::primitive& primitive,
                        std::initializer_list<OneDnnArgument> arguments,
                        const dnnl::memory::desc* scratchpad) {
  use_own_threads();
  try {
    std::unordered_map<int, dnnl::memory> memories;
    for (const OneDnnArgument& argument : arguments) {
      if (argument.data == nullptr) continue;
      memories.emplace(argument.index, dnnl::memory(*argument.layout, engine_, argument.data));
    }
    if (scratchpad != nullptr && scratchpad->get_size() > 0) {
      void* const data = scratch(scratchpad_, scratchpad->get_size());
      memories.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(*scratchpad, engine_, data));
    }
    primitive.execute(stream_, memories);
    stream_.wait();
  } catch (const dnnl::error& error) {
    report(error, "a primitive");
  }
}

void OneDnnLibrary::execute(const OneDnnPrimitive& primitive,
                            std::initializer_list<OneDnnArgument> arguments) {
  run(primitive.primitive, arguments, &primitive.scratchpad);
}

void OneDnnLibrary::execute_weight_gradient(const OneDnnPrimitive& primitive,
                                            const OneDnnArgument& x, const OneDnnArgument& dy,
                                            void* plain) {
  void* const result =
      primitive.to_plain ? scratch(gradient_, primitive.weights.get_size()) : plain;
  run(primitive.primitive, {x, dy, {DNNL_ARG_DIFF_WEIGHTS, &primitive.weights, result}},
      &primitive.scratchpad);
  if (primitive.to_plain) {
    run(primitive.to_plain,
        {{DNNL_ARG_FROM, &primitive.weights, result},
         {DNNL_ARG_TO, &primitive.plain_weights, plain}},
        nullptr);
  }
}

void* OneDnnLibrary::scratch(Buffer& buffer, std::size_t bytes) {
  if (buffer.bytes() < bytes) {
    buffer = Buffer();  // first, so that old and new need not fit together
    buffer = Buffer(memory_, bytes);
  }
  return buffer.data();
}

OneDnnLibrary::WeightCopy& OneDnnLibrary::find_copy(const OneDnnPrimitive& primitive,
                                                    const Tensor& w) {
  const std::byte* const source = static_cast<const std::byte*>(w.data);
  for (WeightCopy& copy : weights_) {
    if (copy.source == source && copy.plain == primitive.plain_weights &&
        copy.layout == primitive.weights) {
      return copy;
    }
  }
  WeightCopy copy;
  copy.source = source;
  copy.plain = primitive.plain_weights;
  copy.layout = primitive.weights;
  copy.memory = Buffer(memory_, primitive.weights.get_size());
  if (!only_pads_rows(copy.layout, copy.plain)) {
    copy.reorder = build_reorder(engine_, copy.plain, copy.layout);
  }
  weights_.push_back(std::move(copy));
  return weights_.back();
}

void* OneDnnLibrary::weights_for(const OneDnnPrimitive& primitive, const Tensor& w) {
  if (primitive.weights == primitive.plain_weights) return w.data;
  use_own_threads();
  WeightCopy& copy = find_copy(primitive, w);
  if (copy.stale) {
    if (copy.reorder) {
      run(copy.reorder,
          {{DNNL_ARG_FROM, &copy.plain, w.data}, {DNNL_ARG_TO, &copy.layout, copy.memory.data()}},
          nullptr);
    } else {
      pad_rows(w, copy.layout.data.format_desc.blocking.strides[0], copy.memory.data(), threads_);
    }
    copy.stale = false;
  }
  return copy.memory.data();
}

// `w` may be one array of weights or a range that holds several.
void OneDnnLibrary::weights_updated(const Tensor& w) {
  const std::byte* const begin = static_cast<const std::byte*>(w.data);
  const std::byte* const end = begin + w.bytes();
  for (WeightCopy& copy : weights_) {
    const std::byte* const copy_end = copy.source + copy.plain.get_size();
    if (copy.source < end && begin < copy_end) copy.stale = true;
  }
}

std::vector<std::string> OneDnnLibrary::implementations() const {
  std::vector<std::string> lines;
  for (const auto& entry : entries_) {
    lines.push_back(text(entry->key) + ": " + entry->primitive.implementation);
  }
  return lines;
}

}  // namespace acgan
