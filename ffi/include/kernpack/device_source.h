// CUDA C++ that a module carries as text: NVRTC compiles a kernel of it on the machine that runs it, when it is first launched there, for
// the GPU that is there, and keeps the result for later processes. Who builds the module needs no nvcc.
//
//     KP_DEVICE_SOURCE(kScale, "scale<float>; scale<kernpack::half>", R"(
//       template <class T> __global__ void scale(T* x, float by, long long n) {
//         const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
//         if (i < n) x[i] *= by;
//       })");
//     void Scale(double by, kp::MutTensorView x) {
//       const uint32_t n = static_cast<uint32_t>(x.numel());
//       kp::launch(x.device(), kScale, kp::instance("scale", x.dtype()), {n}, kp::any_block, x, float(by), x.numel());
//     }
//
// A file becomes such a constant by kernpack_add_module(... CUDA_JIT rows.cu): #include "rows.cu.h", device_code::rows_cu.
#ifndef KERNPACK_DEVICE_SOURCE_H_
#define KERNPACK_DEVICE_SOURCE_H_

#include <kernpack/device_kernel.h>
#include <kernpack/error.h>
#include <kernpack/text.h>

// The C++ types of dtypes, as the arguments of kernels' templates have them: X(name in kp, name in contracts, type). CMake reads the
// rows, too.
/* clang-format off */
#define KP_INSTANCE_TYPES(X) \
  X(bool_, "bool", "bool") \
  X(i8, "i8", "signed char") \
  X(i16, "i16", "short") \
  X(i32, "i32", "int") \
  X(i64, "i64", "long long") \
  X(u8, "u8", "unsigned char") \
  X(u16, "u16", "unsigned short") \
  X(u32, "u32", "unsigned int") \
  X(u64, "u64", "unsigned long long") \
  X(f16, "f16", "kernpack::half") \
  X(bf16, "bf16", "kernpack::bfloat16") \
  X(f32, "f32", "float") \
  X(f64, "f64", "double") \
  X(f8_e4m3fn, "f8_e4m3fn", "kernpack::float8_e4m3fn") \
  X(f8_e5m2, "f8_e5m2", "kernpack::float8_e5m2")
/* clang-format on */

// Defines `name`, a kp::DeviceCode of format "cu", at namespace scope. `kernels`: those that `kernpack warm` compiles, with semicolons
// between them; "" stands for all that aren't templates. `source`: a string literal of CUDA C++.
#define KP_DEVICE_SOURCE(name, kernels, source)                                                        \
  static constexpr char kp_source_of_##name[] =                                                        \
      "kernpack.cuda.1\nkernels " kernels "\nsource " KP_STRINGIFY(__LINE__) " " __FILE__ "\n" source; \
  static constexpr ::kernpack::DeviceCode name { #name, "cu", {kp_source_of_##name, sizeof kp_source_of_##name - 1} }

// KP_DEVICE_SOURCE with a stand-in: `ptx`, a string literal that nvcc -ptx -arch=compute_80 wrote for these kernels, runs while NVRTC
// compiles a kernel for the GPU that is there. A later call runs the compiled code. Where NVRTC is missing the stand-in goes on running.
#define KP_DEVICE_SOURCE_WITH_STAND_IN(name, kernels, ptx, source)                  \
  static constexpr char kp_source_of_##name[] =                                     \
      "kernpack.cuda.1\nkernels " kernels "\nstand-in\n" ptx                        \
      "\nend of stand-in\nsource " KP_STRINGIFY(__LINE__) " " __FILE__ "\n" source; \
  static constexpr ::kernpack::DeviceCode name { #name, "cu", {kp_source_of_##name, sizeof kp_source_of_##name - 1} }

KP_NAMESPACE_BEGIN

// Compiles kernels before their launches, several at once, and returns when all can be launched: `kernels` have semicolons between them.
// For a call that needs more than one, whose launches would compile one after the other. Code of other formats is left alone.
inline void prepare(Device device, const DeviceCode& code, StringView kernels) {
  if (code.format != "cu") return;
  Text names;
  names << kernels << ';';
  device_kernel(device, code, StringView(names.bytes()));
}

// The name of a kernel that is an instance of a template, for launch(). Arguments are added one by one; instance() takes all at once.
//
//     kp::Instance kernel("scale");
//     kernel.add(x.dtype());
//     if (is_wide) kernel.add(128);
//     kp::launch(x.device(), kScale, kernel.end(), {n}, kp::any_block, x, x.numel());
class Instance {
 public:
  explicit Instance(StringView kernel) { text_ << kernel; }
  operator StringView() const { return StringView(text_.bytes()); }

  void add(DType dtype) { begin() << type_name(dtype); }
  void add(bool value) { begin() << (value ? "true" : "false"); }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  void add(T value) {
    begin() << value;
  }
  Instance& end() {
    text_ << '>';
    return *this;
  }

 private:
  Text& begin() {
    text_ << (has_arguments_ ? ", " : "<");
    has_arguments_ = true;
    return text_;
  }
  static const char* type_name(DType dtype) {
#define KP_INSTANCE_TYPE_(constant, name, type) \
  if (dtype == kernpack::constant) return type;
    KP_INSTANCE_TYPES(KP_INSTANCE_TYPE_)
#undef KP_INSTANCE_TYPE_
    KP_THROW(TypeError) << "kp::instance: no C++ type of CUDA kernels has the dtype " << dtype;
  }

  Text text_;
  bool has_arguments_ = false;
};

// "scale<float, 128>" of instance("scale", x.dtype(), 128): the arguments are dtypes, whole numbers and booleans. TypeError for a dtype
// that no C++ type stores.
template <class First, class... Rest>
Instance instance(StringView kernel, const First& first, const Rest&... rest) {
  Instance made(kernel);
  made.add(first);
  (made.add(rest), ...);
  return made.end();
}

KP_NAMESPACE_END

#endif  // KERNPACK_DEVICE_SOURCE_H_
