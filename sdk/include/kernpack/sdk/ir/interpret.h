// The interpreter: what a function means. Generators are tested against it. Slow, and every access is checked.
#ifndef KERNPACK_SDK_IR_INTERPRET_H_
#define KERNPACK_SDK_IR_INTERPRET_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <map>

namespace kernpack::sdk::ir {

// Memory that outlives a call: the buffers that are `persistent`, by key.
using PersistentMemory = std::map<std::string, std::vector<std::byte>>;

struct InterpretOptions {
  // What `extern` calls; arguments and the result as doubles. A name that is not here is a NameError.
  std::map<std::string, std::function<double(const std::vector<double>&)>> externs;
  std::byte undefined{0};  // what memory holds that nobody has stored to
  uint64_t max_steps = 0;  // statements and iterations, then a RuntimeError; 0: no limit
};

// Runs a function of the module. args: the parameters in order, then the results: INT, BOOL and FLOAT values for
// scalars, tensors of compact CPU memory (byte_offset is added). TypeError and ValueError for arguments that do not
// fit; IndexError for an access out of bounds; what an `assert` raises. Parallel, vectorized and unrolled loops run in
// order; the threads of a block run one after another between barriers.
void Interpret(const IRModule& module, std::string_view function, const std::vector<KpAny>& args,
               PersistentMemory* persistent = nullptr, const InterpretOptions& options = {});

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_INTERPRET_H_
