// A module built with Kernpack's SDK: one function for every kind of value that crosses.
#include <kernpack/kernel.h>

#include <string>

namespace kp = kernpack;

namespace {

kp::Any Echo(kp::AnyView value) { return value; }

kp::String Greet(kp::StringView name) { return kp::String("hello " + std::string(name.data(), name.size())); }

kp::Bytes Reversed(kp::BytesView data) {
  std::string text(data.data(), data.size());
  return kp::Bytes(std::string(text.rbegin(), text.rend()));
}

int64_t Product(kp::Shape shape) {
  int64_t product = 1;
  for (int64_t extent : kp::ShapeView(shape)) product *= extent;
  return product;
}

kp::Shape GetShape(kp::TensorView x) { return kp::Shape(x.shape()); }

kp::Array Doubled(kp::ListView<int64_t> items) {
  kp::Any doubled[8];
  size_t n = 0;
  for (int64_t item : items) doubled[n++] = 2 * item;
  return kp::Array(doubled, n);
}

// Any list of any values, one level deeper.
kp::Array Wrapped(kp::AnyView value) { return kp::Array{kp::Any(value), kp::Any(int64_t{1})}; }

kp::Any CallBack(kp::Function function, int64_t value) { return function(value); }

kp::Function Adder(int64_t left) {
  return kp::Function::from([left](int64_t right) {
    if (right < 0) KP_THROW(ValueError) << "adder: " << right << " is negative";
    return left + right;
  });
}

kp::Tensor Iota(int64_t n) {
  kp::Tensor out = kp::Tensor::Empty({n}, kp::DType{KP_DTYPE_FLOAT, 32, 1}, kp::Device(KP_DEVICE_CPU, 0));
  for (int64_t i = 0; i < n; ++i) out.data_ptr<float>()[i] = static_cast<float>(i);
  return out;
}

kp::Tensor Same(kp::Tensor x) { return x; }

void AddOne(kp::MutTensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] += 1;
}

}  // namespace

KP_MODULE("our_values", "1.0.0");
KP_EXPORT(echo, Echo);
KP_EXPORT(greet, Greet);
KP_EXPORT(reversed, Reversed);
KP_EXPORT(product, Product);
KP_EXPORT(shape_of, GetShape);
KP_EXPORT(doubled, Doubled);
KP_EXPORT(wrapped, Wrapped);
KP_EXPORT(call_back, CallBack);
KP_EXPORT(adder, Adder);
KP_EXPORT(iota, Iota);
KP_EXPORT(same, Same);
KP_EXPORT(add_one, AddOne);
