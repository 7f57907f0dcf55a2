#include "base/os/processors.h"

#include <bit>
#include <vector>

#include "base/os/windows/text.h"

namespace kernpack::host::os {
namespace {

constexpr const wchar_t* kProcessorKey = L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";

MEMORYSTATUSEX GetMemory() noexcept {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  GlobalMemoryStatusEx(&memory);
  return memory;
}

}  // namespace

int32_t CountUsableProcessors() noexcept {
  DWORD_PTR mine = 0;
  DWORD_PTR all = 0;
  // 0: the process has threads in several groups of 64 processors.
  const bool known = GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) && mine != 0;
  const DWORD count = known ? static_cast<DWORD>(std::popcount(mine)) : GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return count > 0 ? static_cast<int32_t>(count) : 1;
}

int64_t CountPreemptions() noexcept { return -1; }

// Windows wakes a thread on an idle processor, if there is one.
void Placement::KeepOffCaller(std::thread&) noexcept {}
void Placement::Restore() noexcept {}

// Windows 11 and Server 2022 have the function. Without the call, the first instruction on a tile ends the process.
bool AskForTiles() noexcept {
  using Enable = BOOL(WINAPI*)(DWORD64 features);
  constexpr DWORD64 kTileData = DWORD64{1} << 18;
  const auto enable = FindKernelFunction<Enable>("EnableProcessOptionalXStateFeatures");
  return enable != nullptr && enable(kTileData) != 0;
}

std::string GetProcessorName() {
  wchar_t name[256];
  DWORD bytes = sizeof name;
  const bool found = RegGetValueW(HKEY_LOCAL_MACHINE, kProcessorKey, L"ProcessorNameString", RRF_RT_REG_SZ, nullptr,
                                  name, &bytes) == ERROR_SUCCESS;
  return found ? Utf8(name) : std::string();
}

int64_t GetMaxClockRate() {
  DWORD megahertz = 0;
  DWORD bytes = sizeof megahertz;
  const bool found = RegGetValueW(HKEY_LOCAL_MACHINE, kProcessorKey, L"~MHz", RRF_RT_REG_DWORD, nullptr, &megahertz,
                                  &bytes) == ERROR_SUCCESS;
  return found ? int64_t{megahertz} * 1000 : 0;
}

int64_t GetL2CacheBytes() noexcept try {
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> parts(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION) + 1);
  bytes = static_cast<DWORD>(parts.size() * sizeof parts[0]);
  if (!GetLogicalProcessorInformation(parts.data(), &bytes)) return 0;
  parts.resize(bytes / sizeof parts[0]);
  for (const auto& part : parts) {
    if (part.Relationship == RelationCache && part.Cache.Level == 2) return part.Cache.Size;
  }
  return 0;
} catch (...) {
  return 0;  // no memory for the list
}

int64_t GetMemoryBytes() noexcept { return static_cast<int64_t>(GetMemory().ullTotalPhys); }

int64_t GetAvailableMemoryBytes() { return static_cast<int64_t>(GetMemory().ullAvailPhys); }

}  // namespace kernpack::host::os
