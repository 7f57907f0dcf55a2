#include "base/loader/windows/owner.h"

#include "base/os/windows/text.h"

#include <aclapi.h>
#include <sddl.h>

#include <memory>
#include <vector>

namespace kernpack::platform {
namespace {

struct LocalMemory {
  void operator()(void* memory) const { LocalFree(memory); }
};

// This process's user. Leaked, like the rest of a process's state.
const std::vector<char>& UserToken() {
  static const auto* const token = [] {
    auto* read = new std::vector<char>;
    HANDLE handle = nullptr;
    DWORD bytes = 0;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &handle)) return read;
    const host::os::Handle closes(handle);
    GetTokenInformation(handle, TokenUser, nullptr, 0, &bytes);
    read->resize(bytes);
    if (!GetTokenInformation(handle, TokenUser, read->data(), bytes, &bytes)) read->clear();
    return read;
  }();
  return *token;
}

PSID UserId() {
  const std::vector<char>& token = UserToken();
  return token.empty() ? nullptr : reinterpret_cast<const TOKEN_USER*>(token.data())->User.Sid;
}

// This user, the administrators, the system, Windows' own installer; and the owner himself, who is one of them.
bool IsTrusted(PSID id) {
  if (UserId() != nullptr && EqualSid(id, UserId())) return true;
  for (const auto known :
       {WinBuiltinAdministratorsSid, WinLocalSystemSid, WinCreatorOwnerSid, WinCreatorOwnerRightsSid}) {
    if (IsWellKnownSid(id, known)) return true;
  }
  static PSID installer = [] {
    PSID made = nullptr;
    constexpr const wchar_t* kTrustedInstaller = L"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";
    return ConvertStringSidToSidW(kTrustedInstaller, &made) ? made : nullptr;
  }();
  return installer != nullptr && EqualSid(id, installer);
}

bool LetsOthersWrite(PACL list) {
  constexpr DWORD kWrites = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER |
                            GENERIC_WRITE | GENERIC_ALL;
  if (list == nullptr) return true;  // no list: everybody may do everything
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    if (!GetAce(list, i, &entry)) return true;
    const auto* header = static_cast<const ACE_HEADER*>(entry);
    if (header->AceType == ACCESS_DENIED_ACE_TYPE || (header->AceFlags & INHERIT_ONLY_ACE) != 0) continue;
    auto* allowed = static_cast<ACCESS_ALLOWED_ACE*>(entry);
    if (header->AceType != ACCESS_ALLOWED_ACE_TYPE) return true;  // a kind that isn't known here
    if ((allowed->Mask & kWrites) != 0 && !IsTrusted(&allowed->SidStart)) return true;
  }
  return false;
}

}  // namespace

bool OnlyWeWrite(const std::wstring& wide) {
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (GetNamedSecurityInfoW(wide.c_str(), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                            &owner, nullptr, &list, nullptr, &descriptor) != ERROR_SUCCESS) {
    return false;
  }
  const std::unique_ptr<void, LocalMemory> frees(descriptor);
  return owner != nullptr && IsTrusted(owner) && !LetsOthersWrite(list);
}

bool MakePrivateFolder(const std::wstring& wide) {
  wchar_t* text = nullptr;
  if (UserId() == nullptr || !ConvertSidToStringSidW(UserId(), &text)) return false;
  const std::unique_ptr<void, LocalMemory> frees_text(text);
  // Nothing is inherited from the folder above; all that is made below gets the same list.
  const std::wstring list = L"D:P(A;OICI;FA;;;" + std::wstring(text) + L")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(list.c_str(), SDDL_REVISION_1, &descriptor, nullptr)) {
    return false;
  }
  const std::unique_ptr<void, LocalMemory> frees(descriptor);
  SECURITY_ATTRIBUTES attributes{sizeof attributes, descriptor, FALSE};
  return CreateDirectoryW(wide.c_str(), &attributes) != 0;
}

}  // namespace kernpack::platform
