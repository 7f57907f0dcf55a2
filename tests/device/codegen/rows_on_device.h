// The semantics table on a device, many rows a kernel: drivers compile kernels one by one, and take long for each.
#pragma once

#include <deque>

#include "ir/semantics.h"
#include "kind.h"
#include "on_device.h"

namespace ir_test {

class RowsOnDevice {
 public:
  // Runs every row once. `elements`: of the operands, in vectors; 0: scalars.
  RowsOnDevice(KpDLDevice device, int64_t elements) {
    for (const Row& row : kRows) cases_.emplace_back(row, elements);
    const Compiled compiled(Parse(Module(elements != 0)), TestTarget().c_str());
    for (size_t first = 0; first < cases_.size(); first += kRowsAKernel) {
      std::vector<KpAny> args, results;
      for (size_t i = first; i < End(first); ++i) {
        const std::vector<KpAny> both = cases_[i].Args();
        args.push_back(both[0]);
        results.push_back(both[1]);
      }
      args.insert(args.end(), results.begin(), results.end());
      problems_.push_back(OnDevice(device).Call(compiled, FunctionAt(first), args));
    }
  }

  // The error of the call with that row; "" if there was none.
  const std::string& Problem(size_t row) const { return problems_[row / kRowsAKernel]; }
  bool Ok(size_t row) const { return cases_[row].Ok(); }

 private:
  static constexpr size_t kRowsAKernel = 16;

  std::deque<RowCase> cases_;  // which stay where they are
  std::vector<std::string> problems_;

  static size_t End(size_t first) { return std::min(first + kRowsAKernel, std::size(kRows)); }
  static std::string FunctionAt(size_t first) { return "rows_from_" + std::to_string(first); }

  static std::string Module(bool vectors) {
    std::string text = vectors ? "module \"vector_semantics\"\n" : "module \"semantics\"\n";
    for (size_t first = 0; first < std::size(kRows); first += kRowsAKernel) text += Function(first, vectors);
    return text;
  }
  // One launch of one thread, in which each row is a loop.
  static std::string Function(size_t first, bool vectors) {
    std::string params, results, body;
    for (size_t i = first; i < End(first); ++i) {
      const Row& row = kRows[i];
      const std::string n = std::to_string(i), separator = i == first ? "" : ", ";
      params += separator + "p" + n + ": " + row.in + (vectors ? "[2, N]" : "[2]");
      results += separator + "o" + n + ": " + row.out + (vectors ? "[N]" : "[1]");
      const std::string index = "at" + n, at = vectors ? index : "0";
      body += vectors ? "vectorized(8, masked) " + index + " in 0..N" : "for " + index + " in 0..1";
      body += " { let a = p" + n + "[0" + (vectors ? ", " + at : "") + "] let b = p" + n + "[1" +
              (vectors ? ", " + at : "") + "] o" + n + "[" + at + "] = " + row.expr + " }\n";
    }
    return "func " + FunctionAt(first) + "(" + params + ") -> (" + results + ") { launch grid(1) block(1) {\n" + body +
           "} }\n";
  }
};

}  // namespace ir_test
