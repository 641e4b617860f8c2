#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/parameter_store.h"

namespace acgan {

// A batch goes through a network as `groups` of N rows (say the real and the fake images of a
// step), each with its own batch statistics. Gradients come back as `cotangents`, blocks of N rows
// as well; several may belong to one group: two losses sent back through the same activations in
// one pass.

// Tensors come with the layer's own shape behind the rows: x and dx input_shape() (both inputs of a
// layer with two), y and dy output_shape().
struct LayerForward {
  Tensor x;                       // input  [groups * N, ...]
  Tensor x_second;                // of a layer with two inputs
  Tensor y;                       // output [groups * N, ...]
  std::span<const Tensor> saved;  // what saved_shapes() reserved, in that order, [groups, ...]
  std::int64_t groups = 1;
};

// Where weight gradients of the cotangents [begin, end) are summed up.
struct GradientTarget {
  const GradientStore* gradients = nullptr;
  std::int64_t begin = 0, end = 0;
};

struct LayerBackward {
  Tensor x, y;  // as in the forward pass
  std::span<const Tensor> saved;
  Tensor dy;              // gradient of y [cotangents * N, ...]; may be overwritten
  Tensor dx;              // gradient of x for the cotangents from dx_begin on; empty: not wanted
  Tensor dx_second = {};  // likewise of the second input
  std::int64_t dx_begin = 0;
  Accumulation dx_accumulation = Accumulation::Overwrite;
  std::int64_t groups = 1;
  std::span<const int> group_of;  // which group each cotangent belongs to
  std::span<const GradientTarget> targets;

  std::int64_t cotangents() const { return static_cast<std::int64_t>(group_of.size()); }
  std::int64_t group_rows() const { return dy.rows() / cotangents(); }
  // The rows of `t` (x or y) that belong to the cotangents [begin, end); these groups must follow
  // one another.
  Tensor group_slice(const Tensor& t, std::int64_t begin, std::int64_t end) const;
  Tensor cotangent_slice(const Tensor& t, std::int64_t begin, std::int64_t end) const {
    return t.slice(begin * group_rows(), (end - begin) * group_rows());
  }
};

inline Tensor LayerBackward::group_slice(const Tensor& t, std::int64_t begin,
                                         std::int64_t end) const {
  const int first = group_of[static_cast<std::size_t>(begin)];
  for (std::int64_t j = begin; j < end; ++j) {
    ACGAN_CHECK(group_of[static_cast<std::size_t>(j)] == first + (j - begin));
  }
  return t.slice(first * group_rows(), (end - begin) * group_rows());
}

// One step of a network. Holds parameter indices and sizes; the memory of a pass belongs to
// Activations, so a layer can take part in several passes and keeps no state of its own.
class Layer {
 public:
  explicit Layer(std::string name) : name_(std::move(name)) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const std::string& name() const { return name_; }
  virtual int inputs() const { return 1; }  // 1 or 2
  virtual Shape input_shape() const = 0;    // of one row, [H,W,C] or [F]
  virtual Shape output_shape() const = 0;
  virtual DType output_dtype(DType compute) const { return compute; }
  // F32 arrays kept from forward to backward, one of each for every group.
  virtual std::vector<Shape> saved_shapes() const { return {}; }
  // Whether dx may be dy's memory (dx_second never is).
  virtual bool works_in_place() const { return false; }
  virtual double forward_flops() const { return 0; }  // of one row
  // What the backend is asked for; null where the layer is no convolution.
  virtual const ConvGeometry* convolution() const { return nullptr; }

  virtual void forward(Backend& backend, const ParameterStore& parameters,
                       const LayerForward& pass) const = 0;
  // Inference: nothing depends on the other rows of the batch.
  virtual void infer(Backend& backend, const ParameterStore& parameters,
                     const LayerForward& pass) const {
    forward(backend, parameters, pass);
  }
  virtual void backward(Backend& backend, const ParameterStore& parameters,
                        const LayerBackward& pass) const = 0;
  // Takes the batch statistics of all groups into the running ones, `times` times each.
  virtual void update_running(Backend&, const ParameterStore&, std::span<const Tensor> /*saved*/,
                              int /*times*/, const OptimizerState*) const {}

 private:
  std::string name_;
};

// [rows, shape of one row]
inline Shape with_rows(std::int64_t rows, const Shape& row) {
  Shape shape{rows};
  for (int axis = 0; axis < row.rank(); ++axis) shape.push_back(row[axis]);
  return shape;
}

// Whether a layer's bias is trained. One that a batch norm follows is kept (running means see it)
// but not: its true gradient is zero, and Adam would turn rounding noise into steps.
enum class BiasTraining { Trained, Frozen };

}  // namespace acgan
