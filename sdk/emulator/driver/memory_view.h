// Global memory as kernels of a context see it.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_MEMORY_VIEW_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_MEMORY_VIEW_H_

#include "driver/machine.h"

namespace kernpack::cuda {

class MemoryView : public emulator::AddressSpace {
 public:
  explicit MemoryView(Context context) : context_(context) {}
  const emulator::Region* Find(uint64_t address) const override;
  std::string Near(uint64_t address) const override;

 private:
  Context context_;

  bool Reaches(const Block& block) const;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_MEMORY_VIEW_H_
