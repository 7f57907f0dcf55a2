// The interpreter defines what a function computes; generators are tested against it. It is slow, and checks every access.
#ifndef KERNPACK_SDK_IR_INTERPRET_H_
#define KERNPACK_SDK_IR_INTERPRET_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <map>

namespace kernpack::sdk::ir {

// The `persistent` buffers by key. Pass the same map to each call to keep them.
using PersistentMemory = std::map<std::string, std::vector<std::byte>>;

struct InterpretOptions {
  // The functions that `extern` calls; arguments and result are doubles. A missing name is a NameError.
  std::map<std::string, std::function<double(const std::vector<double>&)>> externs;
  std::byte undefined{0};  // the value of bytes before the first store
  uint64_t max_steps = 0;  // limit of statements and iterations, after which a RuntimeError is thrown; 0: no limit
};

// Runs a function of the module. args: the parameters in order, then the results: INT, BOOL and FLOAT values for
// scalars, compact tensors in CPU memory (byte_offset is added). TypeError and ValueError for invalid arguments;
// IndexError for an access out of bounds; the error of a failed `assert`. Parallel, vectorized and unrolled loops run in
// order; the threads of a block run one after another between barriers.
void Interpret(const IRModule& module, std::string_view function, const std::vector<KpAny>& args,
               PersistentMemory* persistent = nullptr, const InterpretOptions& options = {});

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_INTERPRET_H_
