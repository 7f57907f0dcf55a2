#include "loader/library.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <unordered_map>

#include <kernpack/host/host.h>

#include "base/leaked.h"
#include "loader/digest.h"
#include "loader/float_environment.h"
#include "loader/platform.h"
#include "peer/library.h"
#include "peer/peer.h"

namespace kernpack::host {
namespace {

struct Libraries {
  std::unordered_map<std::string, std::unique_ptr<const Library>> by_digest;
};

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

}  // namespace

int LoadLibraryFile(const char* path, uint32_t flags, const Library** out) {
  platform::FileContent file;
  if (platform::ReadRegularFile(path, &file) != 0) return -1;
  const std::span<const char> content = file.bytes();
  std::string digest = Digest(content);
  auto& known = Leaked<Libraries>().by_digest;
  if (const auto found = known.find(digest); found != known.end()) {
    *out = found->second.get();
    return 0;
  }
  Image image;
  if (InspectImage(path, content, &image) != 0) return -1;
  if (!image.symbols.has_query && PeerRequire(path) != 0) return -1;
  const auto from = image.uses_origin ? platform::OpenFrom::kPath : platform::OpenFrom::kSnapshot;
  const KeepFloatEnvironment keep;
  if ((flags & KP_LOAD_PROBE) != 0) {
    Attempt attempt{path, content, &digest, from, image.symbols.has_query};
    if (platform::TryInChild(path, &Try, &attempt) != 0) return -1;
  }
  const std::set<std::string> before = image.symbols.peer_globals ? PeerGlobalNames() : std::set<std::string>();
  auto library = std::make_unique<Library>(Library{path, digest, nullptr, std::move(image.symbols)});
  if (platform::OpenLibrary(path, content, digest, from, &library->handle) != 0) return -1;
  if (library->symbols.peer_globals) {
    const std::set<std::string> after = PeerGlobalNames();
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                        std::back_inserter(library->symbols.globals));
  }
  *out = library.get();
  known.emplace(std::move(digest), std::move(library));
  return 0;
}

}  // namespace kernpack::host
