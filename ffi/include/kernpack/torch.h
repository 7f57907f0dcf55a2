// Kernel functions in C++ programs on libtorch: loading a module, calling its functions with at::Tensors, and at::Tensor
// <-> kp::TensorView, kp::MutTensorView and kp::Tensor without a copy. C++17; link libtorch and libkernpack (CMake:
// kernpack::kernpack).
//
//   kp::torch::Module k("my_kernels.so");
//   at::Tensor y = k["rms_norm"](x, weight).tensor();
//
// A function called so is an operator of torch's dispatcher (kernpack/host/torch.h), for programs that AOTInductor compiled
// too: make the Module before such a program is loaded. Errors are exceptions that begin with function and argument. The
// Python package adds gradients; calls from C++ are not recorded. Any thread may call anything.
#ifndef KERNPACK_TORCH_H_
#define KERNPACK_TORCH_H_

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <kernpack/host/torch.h>
#include <kernpack/tensor.h>

#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KP_NAMESPACE_BEGIN
namespace torch {

// The host's error of this thread as "<kind>: <message>"; clears it.
inline std::string take_error(const char* who) {
  KpAny error = kp_none();
  kp_error_take(who, -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::string text = std::string(body->kind.data) + ": " + body->message.data;
  kp_any_release(&error);
  return text;
}

// A view of an at::Tensor for C functions of the host and for C++ kernels called directly. It keeps the tensor alive; don't resize
// the tensor meanwhile. std::invalid_argument for a tensor without ordinary strided memory.
class View {
 public:
  explicit View(at::Tensor tensor) : tensor_(std::move(tensor)) {
    if (tensor_.layout() != at::kStrided || tensor_.is_meta() || tensor_.is_conj() || tensor_.is_neg()) {
      throw std::invalid_argument(
          "kp::torch::View: expected a strided tensor with memory, not lazily conjugated or negated");
    }
    const ::DLDataType dtype = at::getDLDataType(tensor_);
    view_ = {};
    view_.data = tensor_.data_ptr();
    view_.device = {tensor_.is_cpu() ? int32_t{KP_DEVICE_CPU} : int32_t{KP_DEVICE_CUDA},
                    tensor_.is_cpu() ? 0 : static_cast<int32_t>(tensor_.get_device())};
    if (!tensor_.is_cpu() && !tensor_.is_cuda()) {
      throw std::invalid_argument("kp::torch::View: expected a tensor on CPU or CUDA");
    }
    view_.ndim = static_cast<int32_t>(tensor_.dim());
    view_.dtype = {dtype.code, dtype.bits, dtype.lanes};
    view_.shape = const_cast<int64_t*>(tensor_.sizes().data());
    view_.strides = const_cast<int64_t*>(tensor_.strides().data());
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Borrowed; valid as long as this object.
  TensorView view() const { return TensorView(&view_); }
  operator TensorView() const { return view(); }
  // For tensors that a kernel writes. Doesn't update torch's version counter.
  MutTensorView mutable_view() const { return MutTensorView(&view_); }

 private:
  at::Tensor tensor_;
  KpDLTensor view_;
};

// A tensor that shares the at::Tensor's memory and keeps it alive. Throws as View.
inline Tensor to_kernpack(const at::Tensor& tensor) {
  auto held = std::make_unique<View>(tensor);
  KpAny out = kp_none();
  const auto release = [](void* view) { delete static_cast<View*>(view); };
  if (kp_tensor_wrap(held->view().tensor(), held.get(), release, &out) != 0) {
    throw std::runtime_error(take_error("kp::torch::to_kernpack"));
  }
  held.release();
  return Tensor(detail::Ref<KpTensorObject>(reinterpret_cast<KpTensorObject*>(out.v.v_obj)));
}

// An at::Tensor that shares the memory and keeps it alive. std::invalid_argument for a dtype or device that torch lacks.
inline at::Tensor to_torch(const Tensor& tensor) {
  KpDLManagedTensorVersioned* managed = nullptr;
  if (kp_tensor_to_dlpack_versioned(tensor.object().object(), &managed) != 0) {
    throw std::invalid_argument(take_error("kp::torch::to_torch"));
  }
  return at::fromDLPackVersioned(reinterpret_cast<::DLManagedTensorVersioned*>(managed));
}

// The results of a call.
class Results {
 public:
  explicit Results(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {}
  // The only result. std::out_of_range if there are none or several.
  const at::Tensor& tensor() const {
    if (tensors_.size() != 1) {
      throw std::out_of_range("kp::torch::Results: expected one result, got " + std::to_string(tensors_.size()));
    }
    return tensors_.front();
  }
  const at::Tensor& operator[](size_t i) const { return tensors_.at(i); }
  size_t size() const { return tensors_.size(); }

 private:
  std::vector<at::Tensor> tensors_;  // aux results included
};

using Keywords = std::unordered_map<std::string, c10::IValue>;

// One function of a module.
class Function {
 public:
  explicit Function(c10::OperatorHandle op) : op_(op) {}

  // Arguments by position: at::Tensor, int64_t, double, bool, std::string, at::ScalarType, at::Device, std::nullopt, and vectors
  // of them. Omitted arguments get their defaults.
  template <class... Arguments>
  Results operator()(const Arguments&... arguments) const {
    return call({}, arguments...);
  }
  // Calls with keywords: call({{"eps", 1e-5}}, x, weight). Other arguments are passed by position, as to operator().
  template <class... Arguments>
  Results call(const Keywords& keywords, const Arguments&... arguments) const {
    std::vector<c10::IValue> stack{c10::IValue(arguments)...};
    op_.schema().checkAndNormalizeInputs(stack, keywords);
    op_.callBoxed(stack);
    std::vector<at::Tensor> tensors;
    for (c10::IValue& value : stack) tensors.push_back(std::move(value).toTensor());
    return Results(std::move(tensors));
  }

 private:
  c10::OperatorHandle op_;
};

// A loaded module. Loading it registers its functions that have a signature as torch operators.
class Module {
 public:
  // std::runtime_error if the file cannot be loaded, or no function can be registered.
  explicit Module(const std::string& path) {
    const char* paths[] = {path.c_str()};
    if (kp_module_load(paths, 1, KP_LOAD_DEFAULT, &module_) != 0)
      throw std::runtime_error(take_error("kp_module_load"));
    register_operators();
  }
  // A module linked into the program (CMake: kernpack_embed).
  explicit Module(const KpModule* embedded) {
    if (kp_module_adopt(embedded, &module_) != 0) throw std::runtime_error(take_error("kp_module_adopt"));
    register_operators();
  }

  // The namespace of the operators: "kernpack_my_kernels".
  const std::string& operators() const { return namespace_; }
  // Throws c10::Error if there is no function of that name with a signature.
  Function operator[](const std::string& name) const {
    return Function(c10::Dispatcher::singleton().findSchemaOrThrow((namespace_ + "::" + name).c_str(), ""));
  }
  const KpLoadedModule* handle() const { return module_; }

 private:
  void register_operators() {
    KpAny name = kp_none();
    KpBytes text = {};
    if (kp_torch_register(module_, &name) != 0) throw std::runtime_error(take_error("kp_torch_register"));
    kp_any_str(&name, &text);
    namespace_.assign(text.data, text.size);
    kp_any_release(&name);
  }

  const KpLoadedModule* module_ = nullptr;
  std::string namespace_;
};

}  // namespace torch
KP_NAMESPACE_END

#endif  // KERNPACK_TORCH_H_
