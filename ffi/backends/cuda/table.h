// The backend as the tables that hosts call.
#ifndef KERNPACK_BACKENDS_CUDA_TABLE_H_
#define KERNPACK_BACKENDS_CUDA_TABLE_H_

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// `device_type` is KP_DEVICE_CUDA, KP_DEVICE_CUDA_HOST or KP_DEVICE_CUDA_MANAGED: the same devices, and other memory by
// default. `backend` lives as long as the table.
KpDeviceApi MakeTable(const Backend* backend, int32_t device_type);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_TABLE_H_
