// Ways to run a function, and whether two of them agree.
#pragma once

#include <kernpack/sdk/ir/pass.h>

#include <functional>
#include <optional>

#include "ir/arguments.h"
#include "ir/compiled.h"

namespace ir_test {

// Runs a function of a module with the results among the arguments; what it raises, or "".
using Runner = std::function<std::string(const std::string& function, const std::vector<KpAny>& args)>;

// Makes a module run.
struct Column {
  std::string name;
  std::function<Runner(const IRModule&)> compile;
};

inline Runner Interpreted(const IRModule& module, std::byte undefined = std::byte{0}) {
  InterpretOptions options;
  options.undefined = undefined;
  options.max_steps = uint64_t{1} << 24;  // a function that is made smaller may lose what ends its `while`
  return [module, options](const std::string& f, const std::vector<KpAny>& args) {
    return CatchMessage([&] { Interpret(module, f, args, nullptr, options); });
  };
}
// Of a kind with a generator. Without contraction floats are the same to the bit.
inline Column CompiledColumn(const std::string& target) {
  return {target, [target](const IRModule& module) -> Runner {
            const Compiled compiled(module, target.c_str());
            return [compiled](const std::string& f, const std::vector<KpAny>& args) { return compiled.Call(f, args); };
          }};
}
// The generator of kind c with flags for the compiler and vectors of so many bits at most.
inline Column ColumnC(const std::string& flags, int vector_bits) {
  const std::string width = " -vector-width=" + std::to_string(vector_bits);
  const Column plain = CompiledColumn("c -mcpu=x86-64-v2 -fast-math-contract=0" + width);
  return {"c " + flags + width, [flags, plain](const IRModule& module) {
            const Environment environment("KERNPACK_CFLAGS", flags.c_str());
            return plain.compile(module);
          }};
}

// Every element of the same value; a NaN like any other NaN.
inline bool SameElements(const Array& a, const Array& b) {
  if (a.bytes == b.bytes) return true;
  const auto is_nan = [&a](const std::byte* at) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, static_cast<size_t>(a.type.itemsize()));
    if (a.type == kF32) return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    return a.type == kF64 && std::isnan(std::bit_cast<double>(bits));
  };
  const size_t size = static_cast<size_t>(a.type.itemsize());
  for (size_t at = 0; at < a.bytes.size(); at += size) {
    const std::byte *one = a.bytes.data() + at, *other = b.bytes.data() + at;
    if (std::memcmp(one, other, size) != 0 && !(is_nan(one) && is_nan(other))) return false;
  }
  return true;
}

// Where two columns differ on a function; "" where they do not. What raises in the first one is not run by the second,
// which may not check accesses: nothing.
inline std::optional<std::string> Difference(const FuncNode& f, const Runner& want, const Runner& got) {
  for (const int64_t n : {0, 3, 17}) {
    const Dims dims = {{"N", n}, {"M", n}, {"D", n / 2 + 1}};
    Arguments a(f, dims, static_cast<uint64_t>(n)), b(f, dims, static_cast<uint64_t>(n));
    if (!want(f.name, a.Any()).empty()) return std::nullopt;
    const std::string where = "N = " + std::to_string(n), raised = got(f.name, b.Any());
    if (!raised.empty()) return where + ": raised " + raised;
    for (size_t i = 0; i < a.arrays().size(); ++i) {
      if (!SameElements(a.arrays()[i], b.arrays()[i])) return where + ": tensor " + std::to_string(i) + " differs";
    }
  }
  return "";
}

}  // namespace ir_test
