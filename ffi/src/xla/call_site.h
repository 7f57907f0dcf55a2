// What one custom call of a compiled XLA program needs, decoded once when the program is made. Immutable afterwards, but
// for two remembered facts; executed from any number of threads.
#ifndef KERNPACK_SRC_XLA_CALL_SITE_H_
#define KERNPACK_SRC_XLA_CALL_SITE_H_

#include <kernpack/host/host.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "xla/xla_ffi_abi.h"

namespace kernpack::xla {

class AttributeReader;

class CallSite {
 public:
  // How one parameter is made at each execution.
  struct Argument {
    enum Kind { kConstant, kTensor, kTensorList } kind = kConstant;
    bool mutated = false;  // each of its buffers is also, in place, one of the first results
    int32_t count = 0;  // buffers taken: 1 for a tensor, the length of a list
    KpAny constant = {};  // owned
  };

  // 0, or -1 with an error raised.
  static int Make(const Attributes& attributes, std::unique_ptr<CallSite>* out);
  CallSite() = default;
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;
  ~CallSite();

  const KpLoadedFunction* function = nullptr;
  std::vector<Argument> arguments;
  int32_t num_buffers = 0;  // expected operands
  int32_t num_mutated = 0;  // leading results that alias operands
  int32_t num_results = 0;  // results of the signature
  int32_t num_lists = 0;
  bool has_workspace = false;  // one more result behind the others

  // Shapes are static in XLA: a call site is checked against the signature when its shapes are first seen, and again
  // only if they ever differ. Holds a hash of them, 0 before.
  std::atomic<uint64_t> checked_shapes{0};
  // Width of XLA's pool; 0 before it was asked for.
  std::atomic<int32_t> pool_width{0};

 private:
  int AddParameter(AttributeReader& reader, int32_t index, bool is_none);
};

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_XLA_CALL_SITE_H_
