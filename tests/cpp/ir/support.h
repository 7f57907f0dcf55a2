// Tensors and modules for tests of the IR.
#pragma once

#include <kernpack/error.h>
#include <kernpack/sdk/ir/interpret.h>
#include <kernpack/sdk/ir/text.h>

#include <cstring>
#include <string>
#include <vector>

#include "../values.h"

namespace ir_test {

using namespace kernpack::sdk::ir;

inline KpAny Value(KpDLTensor* tensor) {
  KpAny a = kp_none();
  a.type_index = KP_TYPE_DLTENSOR_PTR;
  a.v.v_tensor = tensor;
  return a;
}

// A compact CPU tensor that owns its elements.
struct Array {
  Type type;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  KpDLTensor tensor{};

  Array(Type type_, std::vector<int64_t> shape_) : type(type_), shape(std::move(shape_)) {
    int64_t n = 1;
    for (const int64_t extent : shape) n *= extent;
    bytes.resize(static_cast<size_t>(n * type.itemsize()));
  }
  template <class T>
  static Array Of(Type type_, std::vector<int64_t> shape_, const std::vector<T>& values) {
    Array a(type_, std::move(shape_));
    std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
    return a;
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  KpAny Value() {
    tensor = KpDLTensor{
        bytes.data(), {KP_DEVICE_CPU, 0}, static_cast<int32_t>(shape.size()), type, shape.data(), nullptr, 0};
    return ir_test::Value(&tensor);
  }
};

using kernpack_test::Float;
using kernpack_test::Int;

// The text of an error; "" if f raises none.
template <class F>
std::string CatchMessage(F f) {
  try {
    f();
  } catch (const kernpack::Error& e) {
    return std::string(e.kind().data, e.kind().size) + ": " + e.what();
  }
  return "";
}

// The lane that a constant of the text form denotes.
inline uint64_t GetLane(const std::string& type, const std::string& text) {
  const bool word = text == "true" || text == "false";
  const bool special = text.find("nan") != std::string::npos || text.find("inf") != std::string::npos;
  const std::string typed = word || (special && type == "f32") ? text : text + (special ? "_" : "") + type;
  const IRModule m = Parse("func f() -> () { let v: " + type + " = " + typed + " }");
  return m.functions[0]->body[0]->args[0]->bits();
}

}  // namespace ir_test
