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
  const platform::SourceFile& file;
  const char* path;
  const std::string& digest;
  platform::OpenFrom from;
  bool has_query;
};

// In the child: the same steps as below, up to the first call into the module.
int Try(void* context, std::string* error) {
  Attempt& attempt = *static_cast<Attempt*>(context);
  void* handle = nullptr;
  std::vector<NeededLibrary> needs;
  if (OpenNeeds(attempt.path, attempt.file.bytes(), &needs) != 0 ||
      platform::OpenLibrary(attempt.path, attempt.file.bytes(), attempt.file.state(), attempt.digest, &attempt.from,
                            &handle) != 0) {
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
bool LoadKnown(const char* path, LoadedFile* out) {
  out->state = platform::StateOfFile(path);
  platform::Known known;
  std::string opened;
  if (!platform::Recall(path, out->state, &known, &opened)) return false;
  out->known = known.alone;
  out->remember = !known.alone;
  out->verified = known.verified;
  out->in_place = known.in_place;
  auto& libraries = Leaked<Libraries>();
  if ((out->library = libraries.Find(known.digest))) return true;
  const KeepFloatEnvironment keep;
  std::vector<NeededLibrary> needs;
  if (known.needs && OpenNeedsOfFile(path, opened.c_str(), &needs) != 0) {
    kp_error_clear();  // the look at the file itself finds out again, and says so
    return false;
  }
  void* handle = platform::OpenKnown(opened, out->state, known);
  if (!handle) return false;
  ImageSymbols symbols;
  symbols.has_query = true;  // only such files are remembered
  out->library = libraries.Add(std::make_unique<Library>(
      Library{path, known.digest, known.verified, handle, std::move(symbols), std::move(needs)}));
  return true;
}

// How the content that a digest stands for is known.
enum class KnownBy { kRead, kWarmed, kRecord };

// The file's digest, read from its content unless that is known to be what RECORD says; and its content, to be looked into.
int Identify(const char* path, const Record& record, bool in_place, platform::SourceFile* file, std::string* digest,
             KnownBy* source) {
  constexpr size_t kSmall = 1 << 20;  // what costs less to keep than to map
  Verification verification{};
  if (ReadVerification(&verification) != 0) return -1;
  const bool lock = LockIsRequired();
  *source = KnownBy::kRead;
  if (!in_place || (file->size() <= kSmall && verification != Verification::kInstall)) {
    if (file->Read() != 0) return -1;
    *digest = Digest(file->bytes());
    return 0;
  }
  if (!lock && platform::Warmed(path, digest) && record.Lists(*digest)) {
    *source = KnownBy::kWarmed;
  } else if (!lock && verification == Verification::kInstall && record.OnlyDigest(digest)) {
    *source = KnownBy::kRecord;
  } else if (file->Hash(digest) != 0) {
    return -1;
  }
  return file->Map();
}

// Loads the file of that digest, of which no library is there yet.
int LoadNew(const char* path, uint32_t flags, const platform::SourceFile& file, const std::string& digest,
            LoadedFile* out) {
  Image image;
  if (InspectImage(path, file.bytes(), &image) != 0) return -1;
  if (!image.symbols.has_query && kGuests.require(path) != 0) return -1;
  auto from = out->in_place       ? platform::OpenFrom::kInPlace
              : image.uses_origin ? platform::OpenFrom::kPath
                                  : platform::OpenFrom::kSnapshot;
  const KeepFloatEnvironment keep;
  if ((flags & KP_LOAD_PROBE) != 0) {
    Attempt attempt{file, path, digest, from, image.symbols.has_query};
    if (platform::TryInChild(path, &Try, &attempt) != 0) return -1;
  }
  const std::set<std::string> before = image.symbols.peer_globals ? kGuests.global_names() : std::set<std::string>();
  auto library = std::make_unique<Library>(Library{path, digest, out->verified, nullptr, std::move(image.symbols), {}});
  if (OpenNeeds(path, file.bytes(), &library->needs) != 0) return -1;
  if (platform::OpenLibrary(path, file.bytes(), file.state(), digest, &from, &library->handle) != 0) return -1;
  out->in_place = from == platform::OpenFrom::kInPlace;
  out->remember = from != platform::OpenFrom::kPath;
  if (library->symbols.peer_globals) {
    const std::set<std::string> after = kGuests.global_names();
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                        std::back_inserter(library->symbols.globals));
  }
  out->library = Leaked<Libraries>().Add(std::move(library));
  return 0;
}

}  // namespace

int LoadLibraryFile(const char* path, uint32_t flags, LoadedFile* out) {
  Verification verification{};
  if (ReadVerification(&verification) != 0) return -1;
  // Where a lock is required, what is compared with it is what the file holds now.
  if ((flags & KP_LOAD_PROBE) == 0 && !LockIsRequired() && LoadKnown(path, out)) return 0;
  platform::SourceFile file;
  const platform::FileState seen = std::move(out->state);
  *out = {};
  if (file.Open(path, seen) != 0) return -1;
  out->state = file.state();
  const Record record(path);
  // With a lock, a change between hashing and mapping must show.
  out->in_place =
      !record.empty() && file.state().guarded && !CopyIsWanted() && (!LockIsRequired() || file.state().settled);
  std::string digest;
  KnownBy source{};
  if (Identify(path, record, out->in_place, &file, &digest, &source) != 0) return -1;
  if (record.Verify(digest, &out->verified) != 0 || VerifyAgainstLock("kernpack.load", path, digest) != 0) return -1;
  out->remember = true;
  if (!(out->library = Leaked<Libraries>().Find(digest)) && LoadNew(path, flags, file, digest, out) != 0) return -1;
  // Nothing is remembered of a file whose content nobody has read, or that LoadKnown couldn't load; nor where a lock is required: nobody
  // asks there.
  out->remember = out->remember && source != KnownBy::kRecord && out->library->symbols.has_query && !LockIsRequired();
  return 0;
}

int WarmFile(const char* path, std::string* verified) {
  platform::SourceFile file;
  platform::Known known;
  if (file.Open(path) != 0 || file.Hash(&known.digest) != 0) return -1;
  if (Record(path).Verify(known.digest, verified) != 0) return -1;
  if (VerifyAgainstLock("kernpack verify --warm", path, known.digest) != 0) return -1;
  known.verified = *verified;
  return verified->empty() ? 0 : platform::Warm(path, known);
}

void RememberFile(const char* path, const LoadedFile& file, bool alone) {
  if (!file.remember) return;
  platform::Remember(path, file.state,
                     {file.library->digest, file.verified, alone, file.in_place, !file.library->needs.empty()});
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
    item["needs"] = nlohmann::ordered_json::array();
    for (const NeededLibrary& need : library->needs) {
      item["needs"].push_back({{"library", need.library}, {"path", need.path}});
    }
    list.push_back(std::move(item));
  }
  // Paths are bytes: bytes that aren't UTF-8 become a replacement character.
  return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kernpack::host
