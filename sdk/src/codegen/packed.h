// A C++ callable as a FUNCTION object of the host.
#ifndef KERNPACK_SDK_SRC_CODEGEN_PACKED_H_
#define KERNPACK_SDK_SRC_CODEGEN_PACKED_H_

#include <kernpack/any.h>
#include <kernpack/sdk/codegen/generator.h>

#include <functional>
#include <string>
#include <vector>

namespace kernpack::sdk {

// Called with exactly `num_args` arguments, on any thread; what it throws becomes the host's error.
using PackedBody = std::function<Any(const KpAny* args)>;

// The callable as a FUNCTION; `name` is for its errors.
Any MakePacked(const std::string& name, int32_t num_args, PackedBody body);
// Registers one under a name, for the whole process. ValueError when the name is taken, unless `replace`.
void RegisterPacked(const std::string& name, int32_t num_args, PackedBody body, bool replace);
// Whether there is a function of that name.
bool HasPacked(const std::string& name);
// Calls one; throws what it raises. RuntimeError when there is none.
Any CallPacked(const std::string& name, const std::vector<Any>& args);

// What target.build.<kind> and module.load.<kind> give.
Any FromGenerated(const Generated& made);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_PACKED_H_
