#include <cudnn.h>
#include <dlfcn.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "cuda/library/convolution_library.h"

namespace acgan::cuda {
namespace {

// The functions of cuDNN that we call. It is looked for when it is wanted and not linked, so that
// our own kernels run on machines without it.
struct Functions {
  decltype(&cudnnGetVersion) get_version;
  decltype(&cudnnGetErrorString) get_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnCreateTensorDescriptor) create_tensor;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor;
  decltype(&cudnnSetTensor4dDescriptor) set_tensor;
  decltype(&cudnnCreateFilterDescriptor) create_filter;
  decltype(&cudnnDestroyFilterDescriptor) destroy_filter;
  decltype(&cudnnSetFilter4dDescriptor) set_filter;
  decltype(&cudnnCreateConvolutionDescriptor) create_convolution;
  decltype(&cudnnDestroyConvolutionDescriptor) destroy_convolution;
  decltype(&cudnnSetConvolution2dDescriptor) set_convolution;
  decltype(&cudnnSetConvolutionMathType) set_math_type;
  decltype(&cudnnGetConvolutionForwardAlgorithm_v7) forward_algorithms;
  decltype(&cudnnGetConvolutionForwardWorkspaceSize) forward_workspace;
  decltype(&cudnnConvolutionForward) forward;
  decltype(&cudnnGetConvolutionBackwardDataAlgorithm_v7) backward_data_algorithms;
  decltype(&cudnnGetConvolutionBackwardDataWorkspaceSize) backward_data_workspace;
  decltype(&cudnnConvolutionBackwardData) backward_data;
  decltype(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) backward_filter_algorithms;
  decltype(&cudnnGetConvolutionBackwardFilterWorkspaceSize) backward_filter_workspace;
  decltype(&cudnnConvolutionBackwardFilter) backward_filter;
};

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) fail(ErrorKind::Device, "cuDNN cannot be used: it has no {}", name);
}

Functions load_functions() {
  const std::string file = fmt::format("libcudnn.so.{}", CUDNN_MAJOR);
  // Never closed: it starts threads and keeps kernels on the device.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(ErrorKind::Device, "cuDNN cannot be used: {}", dlerror());  // names the file
  }
  Functions f{};
  find(library, "cudnnGetVersion", f.get_version);
  find(library, "cudnnGetErrorString", f.get_error_string);
  find(library, "cudnnCreate", f.create);
  find(library, "cudnnDestroy", f.destroy);
  find(library, "cudnnSetStream", f.set_stream);
  find(library, "cudnnCreateTensorDescriptor", f.create_tensor);
  find(library, "cudnnDestroyTensorDescriptor", f.destroy_tensor);
  find(library, "cudnnSetTensor4dDescriptor", f.set_tensor);
  find(library, "cudnnCreateFilterDescriptor", f.create_filter);
  find(library, "cudnnDestroyFilterDescriptor", f.destroy_filter);
  find(library, "cudnnSetFilter4dDescriptor", f.set_filter);
  find(library, "cudnnCreateConvolutionDescriptor", f.create_convolution);
  find(library, "cudnnDestroyConvolutionDescriptor", f.destroy_convolution);
  find(library, "cudnnSetConvolution2dDescriptor", f.set_convolution);
  find(library, "cudnnSetConvolutionMathType", f.set_math_type);
  find(library, "cudnnGetConvolutionForwardAlgorithm_v7", f.forward_algorithms);
  find(library, "cudnnGetConvolutionForwardWorkspaceSize", f.forward_workspace);
  find(library, "cudnnConvolutionForward", f.forward);
  find(library, "cudnnGetConvolutionBackwardDataAlgorithm_v7", f.backward_data_algorithms);
  find(library, "cudnnGetConvolutionBackwardDataWorkspaceSize", f.backward_data_workspace);
  find(library, "cudnnConvolutionBackwardData", f.backward_data);
  find(library, "cudnnGetConvolutionBackwardFilterAlgorithm_v7", f.backward_filter_algorithms);
  find(library, "cudnnGetConvolutionBackwardFilterWorkspaceSize", f.backward_filter_workspace);
  find(library, "cudnnConvolutionBackwardFilter", f.backward_filter);
  return f;
}

cudnnDataType_t cudnn_type(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return CUDNN_DATA_FLOAT;
    case DType::F16:
      return CUDNN_DATA_HALF;
    case DType::BF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      ACGAN_CHECK(!"floating-point dtype");
  }
  return CUDNN_DATA_FLOAT;
}

// A cuDNN object and the function that ends it.
template <typename Object>
using Owned = std::unique_ptr<Object, cudnnStatus_t (*)(Object*)>;

// What two calls must share to use one plan.
struct PlanKey {
  ConvDirection direction = ConvDirection::Forward;
  ConvGeometry geometry;
  std::int64_t images = 0;
  DType dtype = DType::F32;

  bool operator==(const PlanKey&) const = default;
};

// Descriptors and the chosen algorithm of one convolution in one direction.
struct Plan {
  PlanKey key;
  Owned<cudnnTensorStruct> x, y;
  Owned<cudnnFilterStruct> w;
  Owned<cudnnConvolutionStruct> convolution;
  int algorithm = 0;  // of the direction's own enumeration
  std::size_t workspace_bytes = 0;
};

// The API of functions and algorithms (cudnn_cnn.h), because it can choose deterministic algorithms
// by their name; FP32 sums in every type.
class CudnnLibrary final : public ConvolutionLibrary {
 public:
  CudnnLibrary(Device& device, Scratch& scratch, Tf32 tf32)
      : f_(load_functions()), scratch_(scratch), tf32_(tf32) {
    cudnnHandle_t handle = nullptr;
    const cudnnStatus_t status = f_.create(&handle);
    if (status != CUDNN_STATUS_SUCCESS) {
      fail(ErrorKind::Device, "cuDNN cannot be used: it does not start ({})",
           f_.get_error_string(status));
    }
    handle_.reset(handle);
    check(f_.set_stream(handle, device.stream()), "starting");
  }

  std::string name() const override {
    const std::size_t version = f_.get_version();  // 91900: 9.19.0
    return fmt::format("cuDNN {}.{}", version / 10000, version / 100 % 100);
  }

  void run(const LibraryConvolution& call) override {
    const Plan& plan = plan_of(call);
    const auto floats = static_cast<std::int64_t>((plan.workspace_bytes + 3) / 4);
    void* workspace = floats > 0 ? scratch_.floats(floats) : nullptr;
    const float one = 1.0f, zero = 0.0f;  // cuDNN does not read a result that comes with zero
    const float& beta = call.accumulation == Accumulation::Add ? one : zero;
    switch (call.direction) {
      case ConvDirection::Forward:
        check(f_.forward(handle_.get(), &one, plan.x.get(), call.x.data, plan.w.get(), call.w.data,
                         plan.convolution.get(),
                         static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm), workspace,
                         plan.workspace_bytes, &beta, plan.y.get(), call.y.data),
              "computing a convolution");
        break;
      case ConvDirection::BackwardData:
        check(f_.backward_data(handle_.get(), &one, plan.w.get(), call.w.data, plan.y.get(),
                               call.y.data, plan.convolution.get(),
                               static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm),
                               workspace, plan.workspace_bytes, &beta, plan.x.get(), call.x.data),
              "computing the gradient of a convolution's input");
        break;
      case ConvDirection::BackwardWeight:
        check(f_.backward_filter(handle_.get(), &one, plan.x.get(), call.x.data, plan.y.get(),
                                 call.y.data, plan.convolution.get(),
                                 static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm),
                                 workspace, plan.workspace_bytes, &beta, plan.w.get(), call.w.data),
              "computing the gradient of a convolution's weights");
        break;
    }
  }

 private:
  static constexpr std::size_t kMostWorkspace = std::size_t{512} << 20;
  static constexpr int kMostAlgorithms = 16;

  void check(cudnnStatus_t status, const char* what) const {
    if (status == CUDNN_STATUS_SUCCESS) return;
    fail(ErrorKind::Device, "cuDNN failed while {}: {}; --conv handwritten does without it", what,
         f_.get_error_string(status));
  }

  // Made at the first call of its kind, which a step that is captured later has made before.
  const Plan& plan_of(const LibraryConvolution& call) {
    const PlanKey key{call.direction, call.geometry, call.x.rows(), call.x.dtype};
    for (const Plan& plan : plans_) {
      if (plan.key == key) return plan;
    }
    Plan plan = describe(key);
    choose_algorithm(plan);
    plans_.push_back(std::move(plan));
    return plans_.back();
  }

  Owned<cudnnTensorStruct> describe_images(DType dtype, std::int64_t n, std::int64_t h,
                                           std::int64_t w, std::int64_t c) const {
    cudnnTensorDescriptor_t made = nullptr;
    check(f_.create_tensor(&made), "describing images");
    Owned<cudnnTensorStruct> images(made, f_.destroy_tensor);
    check(f_.set_tensor(made, CUDNN_TENSOR_NHWC, cudnn_type(dtype), static_cast<int>(n),
                        static_cast<int>(c), static_cast<int>(h), static_cast<int>(w)),
          "describing images");
    return images;
  }

  Owned<cudnnFilterStruct> describe_weights(DType dtype, const ConvGeometry& g) const {
    cudnnFilterDescriptor_t made = nullptr;
    check(f_.create_filter(&made), "describing weights");
    Owned<cudnnFilterStruct> weights(made, f_.destroy_filter);
    const auto kernel = static_cast<int>(g.kernel);
    // NHWC here is [out, height, width, in], as our weights lie.
    check(f_.set_filter(made, cudnn_type(dtype), CUDNN_TENSOR_NHWC, static_cast<int>(g.out_c),
                        static_cast<int>(g.in_c), kernel, kernel),
          "describing weights");
    return weights;
  }

  Owned<cudnnConvolutionStruct> describe_convolution(const ConvGeometry& g) const {
    cudnnConvolutionDescriptor_t made = nullptr;
    check(f_.create_convolution(&made), "describing a convolution");
    Owned<cudnnConvolutionStruct> convolution(made, f_.destroy_convolution);
    const auto pad = static_cast<int>(g.pad), stride = static_cast<int>(g.stride);
    check(f_.set_convolution(made, pad, pad, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION,
                             CUDNN_DATA_FLOAT),
          "describing a convolution");
    return convolution;
  }

  Plan describe(const PlanKey& key) const {
    const ConvGeometry& g = key.geometry;
    Plan plan{.key = key,
              .x = describe_images(key.dtype, key.images, g.in_h, g.in_w, g.in_c),
              .y = describe_images(key.dtype, key.images, g.out_h, g.out_w, g.out_c),
              .w = describe_weights(key.dtype, g),
              .convolution = describe_convolution(g)};
    check(f_.set_math_type(plan.convolution.get(), first_math_type(key.dtype)),
          "describing a convolution");
    return plan;
  }

  // FP32 by default may be rounded to TF32: only FMA keeps it.
  cudnnMathType_t first_math_type(DType dtype) const {
    if (dtype != DType::F32) return CUDNN_TENSOR_OP_MATH;
    return tf32_ == Tf32::Allowed ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  }

  void choose_algorithm(Plan& plan) const {
    const auto handle = handle_.get();
    const auto x = plan.x.get(), y = plan.y.get();
    const auto w = plan.w.get();
    const auto convolution = plan.convolution.get();
    switch (plan.key.direction) {
      case ConvDirection::Forward:
        return choose<cudnnConvolutionFwdAlgoPerf_t>(
            plan,
            [&](int* count, auto* found) {
              return f_.forward_algorithms(handle, x, w, convolution, y, kMostAlgorithms, count,
                                           found);
            },
            [&](auto algorithm, std::size_t* bytes) {
              return f_.forward_workspace(handle, x, w, convolution, y, algorithm, bytes);
            });
      case ConvDirection::BackwardData:
        return choose<cudnnConvolutionBwdDataAlgoPerf_t>(
            plan,
            [&](int* count, auto* found) {
              return f_.backward_data_algorithms(handle, w, y, convolution, x, kMostAlgorithms,
                                                 count, found);
            },
            [&](auto algorithm, std::size_t* bytes) {
              return f_.backward_data_workspace(handle, w, y, convolution, x, algorithm, bytes);
            });
      case ConvDirection::BackwardWeight:
        return choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
            plan,
            [&](int* count, auto* found) {
              return f_.backward_filter_algorithms(handle, x, y, convolution, w, kMostAlgorithms,
                                                   count, found);
            },
            [&](auto algorithm, std::size_t* bytes) {
              return f_.backward_filter_workspace(handle, x, y, convolution, w, algorithm, bytes);
            });
    }
  }

  // The first of the algorithms that cuDNN's heuristics name, fastest first, which gives the same
  // sums in every run and takes a bearable workspace.
  template <typename Candidate, typename Ask, typename WorkspaceOf>
  void choose(Plan& plan, const Ask& ask, const WorkspaceOf& workspace_of) const {
    Candidate found[kMostAlgorithms] = {};
    int count = 0;
    check(ask(&count, found), "choosing an algorithm");
    for (int i = 0; i < count; ++i) {
      const Candidate& candidate = found[i];
      if (candidate.status != CUDNN_STATUS_SUCCESS) continue;
      if (candidate.determinism != CUDNN_DETERMINISTIC) continue;
      const auto math_type = math_type_for(plan.key.dtype, candidate.mathType);
      if (!math_type) continue;
      check(f_.set_math_type(plan.convolution.get(), *math_type), "choosing an algorithm");
      std::size_t bytes = 0;
      if (workspace_of(candidate.algo, &bytes) != CUDNN_STATUS_SUCCESS) continue;
      if (bytes > kMostWorkspace) continue;
      plan.algorithm = candidate.algo;
      plan.workspace_bytes = bytes;
      return;
    }
    const ConvGeometry& g = plan.key.geometry;
    fail(ErrorKind::Device,
         "cuDNN has no deterministic algorithm for {} convolutions {}x{}x{} -> {}x{}x{}; --conv "
         "handwritten does without it",
         name_of(plan.key.dtype), g.in_h, g.in_w, g.in_c, g.out_h, g.out_w, g.out_c);
  }

  // An algorithm is meant together with its math type. None where that would lose more precision
  // than was allowed.
  std::optional<cudnnMathType_t> math_type_for(DType dtype, cudnnMathType_t proposed) const {
    if (proposed == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION) return std::nullopt;
    if (dtype != DType::F32 || tf32_ == Tf32::Allowed) return proposed;
    if (proposed == CUDNN_TENSOR_OP_MATH) return std::nullopt;
    return CUDNN_FMA_MATH;
  }

  Functions f_;
  Scratch& scratch_;
  Tf32 tf32_;
  Owned<cudnnContext> handle_{nullptr, f_.destroy};
  std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<ConvolutionLibrary> open_convolution_library(Device& device, Scratch& scratch,
                                                             Tf32 tf32) {
  return std::make_unique<CudnnLibrary>(device, scratch, tf32);
}

}  // namespace acgan::cuda
