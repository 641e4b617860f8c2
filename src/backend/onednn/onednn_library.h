#pragma once

#include <dnnl.hpp>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/buffer.h"
#include "backend/cpu/cpu_backend.h"

namespace acgan {

enum class OneDnnOperation {
  ConvForward,
  ConvBackwardData,
  ConvBackwardWeight,
  DenseForward,
  DenseBackwardData,
  DenseBackwardWeight,
};

// Everything that a primitive is compiled for.
struct OneDnnKey {
  OneDnnOperation operation = OneDnnOperation::ConvForward;
  ConvGeometry geometry;  // of a dense layer only in_c and out_c
  std::int64_t batch = 0;
  DType inputs = DType::F32;  // of both factors
  DType output = DType::F32;
  std::optional<DType> bias = std::nullopt;
  Activation activation = Activation::None;
  Accumulation accumulation = Accumulation::Overwrite;

  bool operator==(const OneDnnKey&) const = default;
};

// A compiled primitive, and the layouts of the arrays it works on. `x` is the input side and `y`
// the output side of the layer, be it values or their gradients.
struct OneDnnPrimitive {
  dnnl::primitive primitive;  // none: oneDNN has nothing but reference loops for this shape
  std::string implementation;
  dnnl::memory::desc x, y, bias;
  dnnl::memory::desc weights;        // as the primitive reads them, or writes their gradient
  dnnl::memory::desc plain_weights;  // as the backend's callers have them
  dnnl::memory::desc scratchpad;
  // Where a weight gradient comes out in another layout, or is to be added: the way to the plain
  // array.
  dnnl::primitive to_plain;

  explicit operator bool() const { return static_cast<bool>(primitive); }
};

// One array that a primitive reads or writes: DNNL_ARG_*, its layout, where it lies.
struct OneDnnArgument {
  int index = 0;
  const dnnl::memory::desc* layout = nullptr;
  void* data = nullptr;
};

// What OneDnnBackend keeps between calls: compiled primitives, weights in the layouts they want,
// scratch memory.
class OneDnnLibrary {
 public:
  explicit OneDnnLibrary(int threads);

  const OneDnnPrimitive& find(const OneDnnKey& key);
  void execute(const OneDnnPrimitive& primitive, std::initializer_list<OneDnnArgument> arguments);
  // Runs a convolution's weight gradient from x and dy; the result, F32, ends up at `plain`.
  void execute_weight_gradient(const OneDnnPrimitive& primitive, const OneDnnArgument& x,
                               const OneDnnArgument& dy, void* plain);

  // The weights in the layout that the primitive reads: `w` itself, or a copy that is made anew
  // after weights_updated.
  void* weights_for(const OneDnnPrimitive& primitive, const Tensor& w);
  void weights_updated(const Tensor& w);
  void forget_weights() noexcept { weights_.clear(); }

  std::vector<std::string> implementations() const;

 private:
  struct WeightCopy {
    const std::byte* source = nullptr;
    dnnl::memory::desc plain, layout;
    Buffer memory;
    dnnl::reorder reorder;
    bool stale = true;
  };
  struct Entry {
    OneDnnKey key;
    OneDnnPrimitive primitive;
  };

  void use_own_threads() const;
  void run(const dnnl::primitive& primitive, std::initializer_list<OneDnnArgument> arguments,
           const dnnl::memory::desc* scratchpad);
  WeightCopy& find_copy(const OneDnnPrimitive& primitive, const Tensor& w);
  void* scratch(Buffer& buffer, std::size_t bytes);

  int threads_;
  CpuBackend memory_;  // apart from the owner, whose release() forgets the weights
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<WeightCopy> weights_;
  Buffer scratchpad_;
  Buffer gradient_;  // a weight gradient in oneDNN's layout
};

// Whether oneDNN multiplies this type with the processor's own instructions.
bool onednn_computes_in(DType type);
dnnl::memory::data_type onednn_type(DType type);

OneDnnPrimitive build_convolution(const dnnl::engine& engine, const OneDnnKey& key);
OneDnnPrimitive build_dense(const dnnl::engine& engine, const OneDnnKey& key);

// Copies the parts of a primitive descriptor that all kinds have, and compiles it unless it is one
// of the reference loops, a thousand times slower than CpuBackend.
template <typename Primitive>
void compile(const typename Primitive::primitive_desc& description, OneDnnPrimitive& result) {
  result.implementation = description.impl_info_str();
  result.scratchpad = description.scratchpad_desc();
  if (result.implementation.find("ref") == std::string::npos) {
    result.primitive = Primitive(description);
  }
}

}  // namespace acgan
