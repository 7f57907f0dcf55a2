// Who may write a file or folder, by its access control list.
#ifndef KERNPACK_SRC_BASE_LOADER_WINDOWS_OWNER_H_
#define KERNPACK_SRC_BASE_LOADER_WINDOWS_OWNER_H_

#include <string>

namespace kernpack::platform {

// True if it belongs to this user or to the system, and nobody else may write it, or give others the right to. `wide`: as
// os::WidePath makes it.
bool OnlyWeWrite(const std::wstring& wide);

// Makes a folder that only this user and the system can open. False where it can't be made, or is there already.
bool MakePrivateFolder(const std::wstring& wide);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_WINDOWS_OWNER_H_
