// A C++ callable as a FUNCTION object of the host.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_PACKED_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_PACKED_H_

#include <kernpack/any.h>
#include <kernpack/sdk/codegen/generator.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kernpack::sdk {

// Called with exactly `num_args` arguments, on any thread; what it throws becomes the host's error.
using PackedBody = std::function<Any(const KpAny* args)>;

// The callable as a FUNCTION; `name` is for its errors.
Any MakePacked(const std::string& name, int32_t num_args, PackedBody body);
// Registers one under a name, for the whole process. ValueError when the name is taken, unless `replace`. `generator`: whose
// service it is; this copy of the SDK calls that instead (PackedFunction::own()).
void RegisterPacked(const std::string& name, int32_t num_args, PackedBody body, bool replace,
                    std::shared_ptr<const Generator> generator = nullptr);

// The function that the registry has under a name when this is made; it may be removed or replaced meanwhile.
class PackedFunction {
 public:
  explicit PackedFunction(const std::string& name);

  explicit operator bool() const;  // whether there is one
  // Throws what it raises.
  Any operator()(const std::vector<Any>& args) const;
  // The generator that this copy of the SDK registered it for: the same C++ types, so that values need not cross as text. Null
  // for everyone else's: of another binary, of a plugin, of Python.
  const Generator* own() const;

 private:
  Any value_;
};

// The result of target.build.<kind> and module.load.<kind>.
Any FromGenerated(const Generated& made);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_PACKED_H_
