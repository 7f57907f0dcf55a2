// Global memory as kernels of a context see it.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_MEMORY_VIEW_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_MEMORY_VIEW_H_

#include "driver/machine.h"

namespace kernpack::cuda {

class MemoryView : public emulator::AddressSpace {
 public:
  // A cooperative launch has some memory by itself, in which cooperative_groups counts who has arrived (grid.sync()).
  MemoryView(Context context, bool cooperative)
      : context_(context), workspace_{kWorkspace, cooperative ? sizeof bytes_ : 0, bytes_, nullptr, false} {}
  MemoryView(const MemoryView&) = delete;
  MemoryView& operator=(const MemoryView&) = delete;
  uint64_t workspace() const { return workspace_.size != 0 ? kWorkspace : 0; }
  const emulator::Region* Find(uint64_t address) const override;
  std::string Near(uint64_t address) const override;

 private:
  static constexpr uint64_t kWorkspace = 0x8000;  // below what the host maps
  Context context_;
  uint8_t bytes_[64] = {};
  emulator::Region workspace_;

  bool Reaches(const Block& block) const;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_MEMORY_VIEW_H_
