#include <algorithm>
#include <array>
#include <vector>

#include "backend/onednn/onednn_backend.h"
#include "backend/onednn/onednn_library.h"

namespace acgan {
namespace {

using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;

// The layouts and numbers that the three descriptors of one convolution share.
struct Convolution {
  dnnl::memory::desc x, y, weights, plain_weights, bias;
  Dims strides, pad_before, pad_after;
  dnnl::primitive_attr attributes;
};

void add_activation(Activation activation, dnnl::primitive_attr& attributes) {
  if (activation == Activation::None) return;
  ACGAN_CHECK(activation == Activation::LeakyRelu);
  dnnl::post_ops operations;
  operations.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, kLeakySlope, 0.0f);
  attributes.set_post_ops(operations);
}

Convolution describe(const OneDnnKey& key) {
  const ConvGeometry& g = key.geometry;
  const dnnl::memory::data_type type = onednn_type(key.inputs);
  const Dims weights{g.out_c, g.in_c, g.kernel, g.kernel};
  // oneDNN wants the padding behind the image to agree with the output's size exactly.
  const auto pad_after = [&](std::int64_t in, std::int64_t out) {
    return (out - 1) * g.stride + g.kernel - in - g.pad;
  };
  Convolution c;
  c.x = {{key.batch, g.in_c, g.in_h, g.in_w}, type, Tag::nhwc};
  c.y = {{key.batch, g.out_c, g.out_h, g.out_w}, type, Tag::nhwc};
  // A weight gradient is F32 whatever the inputs are.
  c.weights = {weights, onednn_type(key.output), Tag::any};
  c.plain_weights = {weights, onednn_type(key.output), Tag::ohwi};
  if (key.bias) c.bias = {{g.out_c}, onednn_type(*key.bias), Tag::x};
  c.strides = {g.stride, g.stride};
  c.pad_before = {g.pad, g.pad};
  c.pad_after = {pad_after(g.in_h, g.out_h), pad_after(g.in_w, g.out_w)};
  c.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  add_activation(key.activation, c.attributes);
  return c;
}

dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& engine,
                                                           const Convolution& c) {
  const dnnl::convolution_forward::desc description(
      dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, c.x, c.weights,
      c.bias, c.y, c.strides, c.pad_before, c.pad_after);
  return {description, c.attributes, engine};
}

OneDnnPrimitive build_forward(const dnnl::engine& engine, const Convolution& c) {
  OneDnnPrimitive result;
  const auto description = describe_forward(engine, c);
  compile<dnnl::convolution_forward>(description, result);
  result.weights = description.weights_desc();
  return result;
}

OneDnnPrimitive build_backward_data(const dnnl::engine& engine, const Convolution& c) {
  OneDnnPrimitive result;
  const dnnl::convolution_backward_data::primitive_desc description(
      dnnl::convolution_backward_data::desc(dnnl::algorithm::convolution_direct, c.x, c.weights,
                                            c.y, c.strides, c.pad_before, c.pad_after),
      c.attributes, engine, describe_forward(engine, c));
  compile<dnnl::convolution_backward_data>(description, result);
  result.weights = description.weights_desc();
  return result;
}

OneDnnPrimitive build_backward_weight(const dnnl::engine& engine, const OneDnnKey& key,
                                      const Convolution& c) {
  // The forward pass that oneDNN wants for a hint has weights of the inputs' type.
  Convolution forward = c;
  forward.weights = {c.weights.dims(), onednn_type(key.inputs), Tag::any};
  OneDnnPrimitive result;
  const dnnl::convolution_backward_weights::primitive_desc description(
      dnnl::convolution_backward_weights::desc(dnnl::algorithm::convolution_direct, c.x, c.weights,
                                               c.y, c.strides, c.pad_before, c.pad_after),
      c.attributes, engine, describe_forward(engine, forward));
  compile<dnnl::convolution_backward_weights>(description, result);
  result.weights = description.diff_weights_desc();

  const bool add = key.accumulation == Accumulation::Add;
  if (add || result.weights != c.plain_weights) {
    dnnl::primitive_attr attributes;
    if (add) {
      dnnl::post_ops operations;
      operations.append_sum(1.0f);
      attributes.set_post_ops(operations);
    }
    result.to_plain = dnnl::reorder(
        dnnl::reorder::primitive_desc(engine, result.weights, engine, c.plain_weights, attributes));
  }
  return result;
}

// dx [rows,C] += bias [C]. A tile of whole rows is added at a time: with few channels a row would
// be too short for vector instructions.
template <typename T>
void add_bias(const Tensor& bias, const Tensor& dx, int threads) {
  const std::int64_t channels = dx.shape.back();
  const std::int64_t tile_size = channels * std::max<std::int64_t>(1, 256 / channels);
  std::vector<float> tile(static_cast<std::size_t>(tile_size));
  visit_dtype(bias.dtype, [&]<typename B>(B) {
    for (std::int64_t i = 0; i < tile_size; ++i) tile[i] = to_float(bias.as<B>()[i % channels]);
  });

  T* const values = dx.as<T>();
  const std::int64_t count = dx.count();
  const std::int64_t tiles = (count + tile_size - 1) / tile_size;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t t = 0; t < tiles; ++t) {
    T* const row = values + t * tile_size;
    const std::int64_t length = std::min(tile_size, count - t * tile_size);
#pragma omp simd
    for (std::int64_t i = 0; i < length; ++i) row[i] = from_float<T>(to_float(row[i]) + tile[i]);
  }
}

bool is_images(const Tensor& tensor, std::int64_t n, std::int64_t h, std::int64_t w,
               std::int64_t c) {
  return tensor && tensor.shape == Shape{n, h, w, c};
}

// The promises of backend.h about the shapes of a convolution's arrays.
void check_shapes(const ConvGeometry& g, const Tensor& x, const Tensor& w, const Tensor& y) {
  ACGAN_CHECK(x && x.shape.rank() == 4);
  ACGAN_CHECK(is_images(x, x.rows(), g.in_h, g.in_w, g.in_c));
  ACGAN_CHECK(is_images(y, x.rows(), g.out_h, g.out_w, g.out_c));
  ACGAN_CHECK(w && w.shape == (Shape{g.out_c, g.kernel, g.kernel, g.in_c}));
}

bool one_type(const Tensor& a, const Tensor& b, const Tensor& c) {
  return onednn_computes_in(a.dtype) && b.dtype == a.dtype && c.dtype == a.dtype;
}

std::optional<DType> type_of(const Tensor& bias) {
  return bias ? std::optional(bias.dtype) : std::nullopt;
}

}  // namespace

OneDnnPrimitive build_convolution(const dnnl::engine& engine, const OneDnnKey& key) {
  const Convolution c = describe(key);
  OneDnnPrimitive result;
  if (key.operation == OneDnnOperation::ConvForward) {
    result = build_forward(engine, c);
  } else if (key.operation == OneDnnOperation::ConvBackwardData) {
    result = build_backward_data(engine, c);
  } else {
    result = build_backward_weight(engine, key, c);
  }
  result.x = c.x;
  result.y = c.y;
  result.bias = c.bias;
  result.plain_weights = c.plain_weights;
  return result;
}

void OneDnnBackend::conv2d_forward(const ConvGeometry& geometry, const Tensor& x, const Tensor& w,
                                   const Tensor& bias, Activation activation, const Tensor& y) {
  check_shapes(geometry, x, w, y);
  ACGAN_CHECK(!bias || bias.count() == geometry.out_c);
  // oneDNN's ReLU takes the larger of NaN and 0, which is 0: it would hide a run that diverges.
  // Ours comes after it.
  const bool hides_nan = activation == Activation::Relu;
  if (one_type(x, w, y) && (!bias || onednn_computes_in(bias.dtype))) {
    const OneDnnPrimitive& p =
        library_->find({.operation = OneDnnOperation::ConvForward,
                        .geometry = geometry,
                        .batch = x.rows(),
                        .inputs = x.dtype,
                        .output = y.dtype,
                        .bias = type_of(bias),
                        .activation = hides_nan ? Activation::None : activation});
    if (p) {
      library_->execute(p, {{DNNL_ARG_SRC, &p.x, x.data},
                            {DNNL_ARG_WEIGHTS, &p.weights, library_->weights_for(p, w)},
                            {DNNL_ARG_BIAS, &p.bias, bias.data},
                            {DNNL_ARG_DST, &p.y, y.data}});
      if (hides_nan) activation_forward(y, activation, y);
      return;
    }
  }
  CpuBackend::conv2d_forward(geometry, x, w, bias, activation, y);
}

void OneDnnBackend::conv2d_backward_data(const ConvGeometry& geometry, const Tensor& dy,
                                         const Tensor& w, const Tensor& bias, const Tensor& dx) {
  check_shapes(geometry, dx, w, dy);
  ACGAN_CHECK(!bias || bias.count() == geometry.in_c);
  if (one_type(dx, w, dy)) {
    const OneDnnPrimitive& p = library_->find({.operation = OneDnnOperation::ConvBackwardData,
                                               .geometry = geometry,
                                               .batch = dx.rows(),
                                               .inputs = dx.dtype,
                                               .output = dx.dtype});
    if (p) {
      library_->execute(p, {{DNNL_ARG_DIFF_DST, &p.y, dy.data},
                            {DNNL_ARG_WEIGHTS, &p.weights, library_->weights_for(p, w)},
                            {DNNL_ARG_DIFF_SRC, &p.x, dx.data}});
      if (bias) visit_dtype(dx.dtype, [&]<typename T>(T) { add_bias<T>(bias, dx, threads()); });
      return;
    }
  }
  CpuBackend::conv2d_backward_data(geometry, dy, w, bias, dx);
}

void OneDnnBackend::conv2d_backward_weight(const ConvGeometry& geometry, const Tensor& x,
                                           const Tensor& dy, const Tensor& dw,
                                           Accumulation accumulation) {
  check_shapes(geometry, x, dw, dy);
  if (one_type(x, dy, x) && dw.dtype == DType::F32) {
    const OneDnnPrimitive& p = library_->find({.operation = OneDnnOperation::ConvBackwardWeight,
                                               .geometry = geometry,
                                               .batch = x.rows(),
                                               .inputs = x.dtype,
                                               .output = dw.dtype,
                                               .accumulation = accumulation});
    if (p) {
      library_->execute_weight_gradient(p, {DNNL_ARG_SRC, &p.x, x.data},
                                        {DNNL_ARG_DIFF_DST, &p.y, dy.data}, dw.data);
      return;
    }
  }
  CpuBackend::conv2d_backward_weight(geometry, x, dy, dw, accumulation);
}

}  // namespace acgan
