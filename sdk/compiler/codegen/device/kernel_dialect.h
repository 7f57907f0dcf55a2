// Differences between the languages of device code.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_KERNEL_DIALECT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_KERNEL_DIALECT_H_

#include "codegen/c_family/dialect.h"

namespace kernpack::sdk::ir {

class KernelDialect : public Dialect {
 public:
  // The beginning of a program: the prelude that Dialect requires, and kp_thread(), the number of this thread among all of the
  // launch, an int64_t.
  virtual std::string Prelude() const = 0;
  // Up to the list of parameters. `threads`: of a block, 0 where that is known only at run time.
  virtual std::string Head(const std::string& name, const int64_t (&threads)[3]) const = 0;
  // The parameter for memory whose first element `name` will be; what the body begins with to make it so, or "".
  virtual std::string MemoryParameter(const std::string& pointer, const std::string& name) const = 0;
  virtual std::string MemoryBinding(const std::string& pointer, const std::string& name) const = 0;
  // kp_fail(word, number, 4 values), all int64_t but the number: the first in a launch writes it and, behind it, the values.
  virtual std::string Fail() const = 0;
  // The words before the declaration of an array in the block's shared memory, and the maximum size of such arrays in bytes.
  virtual std::string Shared() const = 0;
  virtual int64_t MostInArrays() const { return INT64_MAX; }
  // The declaration of kp_block, bytes of which a launch gives the number.
  virtual std::string BlockMemory() const { return ""; }
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_KERNEL_DIALECT_H_
