// torch's numbers of dtypes and devices, and DLPack's.
#ifndef KERNPACK_SRC_GUESTS_TORCH_DTYPE_H_
#define KERNPACK_SRC_GUESTS_TORCH_DTYPE_H_

#include <kernpack/abi.h>

namespace kernpack::torch {

// bits is 0 for a dtype that contracts cannot name: quantised ones, and ints of other than whole bytes.
KpDLDataType DTypeFromTorch(int32_t scalar_type) noexcept;
// Its name in torch, "uint4", where `DTypeFromTorch` has no answer; NULL for one that is newer than this library.
const char* ForeignDTypeName(int32_t scalar_type) noexcept;
// -1 where torch has no such dtype.
int32_t DTypeToTorch(KpDLDataType dtype) noexcept;

// device_type 0 for a device that we do not know. `index` -1 (torch's "the current one") becomes 0.
KpDLDevice DeviceFromTorch(int32_t type, int32_t index) noexcept;
// -1 where torch has no such device. Index: as it is.
int32_t DeviceTypeToTorch(int32_t device_type) noexcept;

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_DTYPE_H_
