// Functions of NVIDIA's management library, libnvidia-ml.so.1: those that the emulated device has, and others that programs ask for.
// clang-format off
#define KP_DROP_IN_NAMES(X) \
  X(nvmlInit) X(nvmlInit_v2) X(nvmlInitWithFlags) X(nvmlShutdown) X(nvmlErrorString) X(nvmlSystemGetDriverVersion) \
  X(nvmlSystemGetNVMLVersion) X(nvmlSystemGetCudaDriverVersion) X(nvmlSystemGetCudaDriverVersion_v2) X(nvmlDeviceGetCount) \
  X(nvmlDeviceGetCount_v2) X(nvmlDeviceGetHandleByIndex) X(nvmlDeviceGetHandleByIndex_v2) X(nvmlDeviceGetHandleByPciBusId) \
  X(nvmlDeviceGetHandleByPciBusId_v2) X(nvmlDeviceGetHandleByUUID) X(nvmlDeviceGetIndex) X(nvmlDeviceGetName) X(nvmlDeviceGetUUID) \
  X(nvmlDeviceGetPciInfo_v3) X(nvmlDeviceGetCudaComputeCapability) X(nvmlDeviceGetMemoryInfo) X(nvmlDeviceGetMemoryInfo_v2) \
  X(nvmlDeviceGetGpuFabricInfoV) X(nvmlDeviceGetNvLinkState) X(nvmlDeviceGetNvLinkRemoteDeviceType) \
  X(nvmlDeviceGetNvLinkRemotePciInfo_v2) X(nvmlDeviceGetComputeRunningProcesses) X(nvmlDeviceGetComputeRunningProcesses_v3) \
  X(nvmlDeviceGetUtilizationRates) X(nvmlDeviceGetTemperature) X(nvmlDeviceGetPowerUsage) X(nvmlDeviceGetClockInfo) \
  X(nvmlDeviceGetMaxClockInfo) X(nvmlDeviceGetP2PStatus) X(nvmlDeviceGetTopologyCommonAncestor) X(nvmlDeviceGetCpuAffinity) \
  X(nvmlDeviceSetCpuAffinity) X(nvmlDeviceGetMigMode) X(nvmlDeviceGetPersistenceMode) X(nvmlDeviceGetSerial)
// clang-format on
