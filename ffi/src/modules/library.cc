#include "modules/library.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/leaked.h"
#include "base/loader/digest.h"
#include "base/loader/verify.h"
#include "base/loader/float_environment.h"
#include "base/loader/platform.h"
#include "values/guests.h"

namespace kernpack::host {
namespace {

struct Attempt {
  const char* path;
  std::span<const char> content;
  const std::string* digest;
  platform::OpenFrom from;
  bool has_query;
};

// In the child: the same steps as below, up to the first call into the module.
int Try(void* context, std::string* error) {
  const Attempt& attempt = *static_cast<const Attempt*>(context);
  void* handle = nullptr;
  if (platform::OpenLibrary(attempt.path, attempt.content, *attempt.digest, attempt.from, &handle) != 0) {
    KpAny raised = kp_none();
    kp_error_take("kernpack.load", -1, &raised);
    const KpBytes message = reinterpret_cast<const KpErrorObject*>(raised.v.v_obj)->message;
    error->assign(message.data, message.size);
    kp_any_release(&raised);
    return -1;
  }
  if (attempt.has_query) {
    const auto query = reinterpret_cast<KpModuleQuery>(platform::LibrarySymbol(handle, KP_MODULE_QUERY_SYMBOL));
    if (query) (void)query();
  }
  return 0;
}

struct Libraries {
  ForkMutex mutex{LockRank::kModules};  // guards the map against those who only list it
  std::unordered_map<std::string, std::unique_ptr<const Library>> by_digest;

  const Library* Find(const std::string& digest) {
    const std::lock_guard lock(mutex);
    const auto found = by_digest.find(digest);
    return found == by_digest.end() ? nullptr : found->second.get();
  }
  const Library* Add(std::unique_ptr<const Library> library) {
    const std::lock_guard lock(mutex);
    return by_digest.emplace(library->digest, std::move(library)).first->second.get();
  }
};

// A file that was loaded before, by this process or another, without a look at its content. False where it has to be read.
bool LoadKept(const char* path, LoadedFile* out) {
  out->state = platform::StateOfFile(path);
  platform::Known known;
  std::string copy;
  if (out->state.empty() || !platform::Recall(path, out->state, &known, &copy)) return false;
  out->known = known.alone;
  out->verified = known.verified;
  auto& libraries = Leaked<Libraries>();
  if ((out->library = libraries.Find(known.digest))) return true;
  const KeepFloatEnvironment keep;
  void* handle = platform::OpenKept(copy);
  if (!handle) return false;
  ImageSymbols symbols;
  symbols.has_query = true;  // only such files are remembered
  out->library =
      libraries.Add(std::make_unique<Library>(Library{path, known.digest, known.verified, handle, std::move(symbols)}));
  return true;
}

int LoadContent(const char* path, uint32_t flags, std::span<const char> content, const std::string& digest,
                const std::string& verified, platform::OpenFrom* from, const Library** out) {
  Image image;
  if (InspectImage(path, content, &image) != 0) return -1;
  if (!image.symbols.has_query && kGuests.require(path) != 0) return -1;
  *from = image.uses_origin ? platform::OpenFrom::kPath : platform::OpenFrom::kSnapshot;
  const KeepFloatEnvironment keep;
  if ((flags & KP_LOAD_PROBE) != 0) {
    Attempt attempt{path, content, &digest, *from, image.symbols.has_query};
    if (platform::TryInChild(path, &Try, &attempt) != 0) return -1;
  }
  const std::set<std::string> before = image.symbols.peer_globals ? kGuests.global_names() : std::set<std::string>();
  auto library = std::make_unique<Library>(Library{path, digest, verified, nullptr, std::move(image.symbols)});
  if (platform::OpenLibrary(path, content, digest, *from, &library->handle) != 0) return -1;
  if (library->symbols.peer_globals) {
    const std::set<std::string> after = kGuests.global_names();
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                        std::back_inserter(library->symbols.globals));
  }
  *out = Leaked<Libraries>().Add(std::move(library));
  return 0;
}

}  // namespace

int LoadLibraryFile(const char* path, uint32_t flags, LoadedFile* out) {
  // Where a lock is required, what is compared with it is what the file holds now.
  if ((flags & KP_LOAD_PROBE) == 0 && !LockIsRequired() && LoadKept(path, out)) return 0;
  platform::SourceFile file;
  *out = {};
  if (file.Open(path) != 0 || file.Read() != 0) return -1;
  const std::string digest = Digest(file.bytes());
  if (VerifyAgainstRecord(path, digest, &out->verified) != 0) return -1;
  if (VerifyAgainstLock("kernpack.load", path, digest) != 0) return -1;
  auto from = platform::OpenFrom::kSnapshot;
  out->library = Leaked<Libraries>().Find(digest);
  if (!out->library && LoadContent(path, flags, file.bytes(), digest, out->verified, &from, &out->library) != 0)
    return -1;
  if (out->library->symbols.has_query && from == platform::OpenFrom::kSnapshot) out->state = file.state();
  return 0;
}

void RememberFile(const char* path, const LoadedFile& file, bool alone) {
  if (file.state.empty() || file.known) return;
  platform::Remember(path, file.state, {file.library->digest, file.verified, alone});
}

std::string DescribeLibraries() {
  auto& libraries = Leaked<Libraries>();
  std::map<std::string, const Library*> by_path;
  {
    const std::lock_guard lock(libraries.mutex);
    for (const auto& [digest, library] : libraries.by_digest) by_path.emplace(library->path, library.get());
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [path, library] : by_path) {
    nlohmann::ordered_json item{{"path", path}, {"digest", library->digest}};
    item["verified"] =
        library->verified.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(library->verified);
    list.push_back(std::move(item));
  }
  // Paths are bytes: bytes that aren't UTF-8 become a replacement character.
  return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kernpack::host
