
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/leaked.h"
#include "base/loader/digest.h"
#include "base/loader/verify.h"
#include "base/os/files.h"
#include "base/os/memory.h"
#include "base/os/path.h"

namespace kernpack::host {
namespace {

constexpr std::string_view kInfo = ".dist-info";
constexpr int kDeepest = 5;  // folders between a file and the one that its distribution was installed into

// A path as a field of RECORD, which is a file of comma-separated values.
std::string AsField(const std::string& path) {
  if (path.find_first_of(",\"\n") == std::string::npos) return path;
  std::string field = "\"";
  for (const char c : path) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

// The hash that lines of RECORD give for the path: "sha256=..."; empty where they give none.
std::string HashInRecord(std::string_view record, const std::string& path) {
  const std::string begin = "\n" + AsField(path) + ",";
  const auto hash_from = [record](size_t from) {
    return std::string(record.substr(from, std::min(record.find(',', from), record.size()) - from));
  };
  if (record.starts_with(std::string_view(begin).substr(1))) return hash_from(begin.size() - 1);
  const size_t at = os::FindBytes(record, begin);
  return at == record.npos ? std::string() : hash_from(at + begin.size());
}

std::string Normal(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Of the distribution whose metadata folder has that name.
std::string NormalName(const std::string& info) { return Normal(std::string_view(info).substr(0, info.find('-'))); }

bool IsObject(std::string_view line) { return line.find(os::kLibrarySuffix) != std::string_view::npos; }

// True if every later change of what has this state shows in its times.
bool IsSettled(const os::Stamp& state) {
  constexpr int64_t kSettling = 2'000'000'000;
  return os::GetNow() - std::max(state.written, state.changed) > kSettling;
}

bool IsUnchanged(const os::Stamp& now, const os::Stamp& before) {
  return now.device == before.device && now.number == before.number && now.size == before.size &&
         now.written == before.written;
}

// Nor has it been moved.
bool IsUntouched(const os::Stamp& now, const os::Stamp& before) {
  return IsUnchanged(now, before) && now.changed == before.changed;
}

// The RECORD of a distribution.
struct RecordFile {
  std::string info;  // the name of the folder that it is in
  os::Stamp state;
  bool settled = false;
  bool by_conda = false;
  std::string text;
};

// The metadata folders in a folder, as long as the folder's times stay: installers replace such a folder as a whole.
class Folder {
 public:
  // Of a folder in this state; `settled`: its times tell every later change.
  Folder(std::string path, const os::Stamp& state, bool settled)
      : path_(std::move(path)), state_(state), settled_(settled), infos_(os::ListNames(path_, kInfo)) {
    names_.reserve(infos_.size());
    for (const std::string& info : infos_) names_.push_back(NormalName(info));
  }

  bool IsStill(const os::Stamp& now) const { return settled_ && IsUnchanged(now, state_); }

  bool empty() const { return infos_.empty(); }

  // Adds the distributions whose RECORD has a hash for the file `inside`. Looks first where the distribution is called like the file's
  // package. An installer that was interrupted may have left an older version's, so there may be several.
  void Find(const std::string& inside, std::vector<Listing>* out) {
    const std::string likely = Normal(std::string_view(inside).substr(0, inside.find_first_of("/.")));
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (names_[i] == likely) Consider(infos_[i], inside, out);
    }
    if (!out->empty()) return;
    const bool is_object = IsObject(inside);
    // Of the others, the lines for shared objects are read once: they are few.
    if (is_object && objects_.empty()) ReadObjects();
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (!is_object || !HashInRecord(objects_[i], inside).empty()) Consider(infos_[i], inside, out);
    }
  }

 private:
  void Consider(const std::string& info, const std::string& inside, std::vector<Listing>* out) {
    const std::string named = info.substr(0, info.size() - kInfo.size());
    const size_t dash = named.find('-');
    const RecordFile& record = GetRecord(info);
    Listing found;
    found.hash = HashInRecord(record.text, inside);
    if (dash == std::string::npos || found.hash.empty() || record.by_conda) return;
    found.name = named.substr(0, dash);
    std::replace(found.name.begin(), found.name.end(), '_', '-');
    found.version = named.substr(dash + 1);
    found.written = record.state.written;
    out->push_back(std::move(found));
  }

  // The one that was read last is kept: the modules of a wheel are loaded one after the other.
  const RecordFile& GetRecord(const std::string& info) {
    const std::string path = path_ + "/" + info + "/RECORD";
    os::Stamp now;
    if (!os::GetStamp(path.c_str(), &now)) {
      last_ = {};
      return last_;
    }
    if (last_.settled && last_.info == info && IsUntouched(now, last_.state)) return last_;
    last_ = {info, now, IsSettled(now), false, os::ReadText(path)};
    last_.by_conda = os::ReadText(path_ + "/" + info + "/INSTALLER").starts_with("conda");
    return last_;
  }

  void ReadObjects() {
    for (const std::string& info : infos_) {
      const std::string record = os::ReadText(path_ + "/" + info + "/RECORD");
      std::string& kept = objects_.emplace_back();
      for (std::string_view rest = record; !rest.empty();) {
        const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
        if (IsObject(line)) kept += line;
        rest.remove_prefix(line.size());
      }
    }
  }

  std::string path_;
  os::Stamp state_;
  bool settled_;
  std::vector<std::string> infos_;
  std::vector<std::string> names_;  // normal ones, of the distributions
  RecordFile last_;
  std::vector<std::string> objects_;  // of each RECORD, the lines that name shared objects; empty until asked for
};

// A folder that somebody named, and where it really is.
struct Place {
  os::Stamp state;
  std::string real;
};

// The folders from which files were loaded, with their distributions.
struct Folders {
  ForkMutex mutex{LockRank::kNames};
  std::unordered_map<std::string, Folder> by_path;
  std::unordered_map<std::string, Place> places;  // by the name that was given
};

constexpr size_t kMostFolders = 64;

// Where the folder really is, and its state; empty where there is none. With the lock held. Following every link of a path takes
// longer than two questions for the folder's state, which changes when it is moved.
std::string FindPlace(const std::string& named, os::Stamp* state) {
  auto& places = Leaked<Folders>().places;
  if (!os::GetStamp(named.c_str(), state)) return {};
  const auto known = places.find(named);
  if (known != places.end() && IsUntouched(*state, known->second.state)) {
    const std::string& real = known->second.real;
    os::Stamp there;
    if (real == named || (os::GetStamp(real.c_str(), &there) && IsUntouched(there, *state))) return real;
  }
  std::string real = os::GetRealPath(named.c_str());
  if (places.size() >= kMostFolders) places.clear();
  if (!real.empty()) places.insert_or_assign(named, Place{*state, real});
  return real;
}

// With the lock held, as long as the folder is in use.
Folder& FolderAt(const std::string& path, const os::Stamp& now) {
  constexpr int64_t kSettling = 2'000'000'000;
  auto& folders = Leaked<Folders>().by_path;
  if (const auto found = folders.find(path); found != folders.end()) {
    if (found->second.IsStill(now)) return found->second;
    folders.erase(found);
  }
  if (folders.size() >= kMostFolders) folders.clear();
  return folders.emplace(path, Folder(path, now, os::GetNow() - now.written > kSettling)).first->second;
}

std::vector<Listing> FindListings(const char* path) {
  // Folders may be links; a file that is a link is listed under its own name.
  const std::string asked(path);
  std::string inside(os::FileName(asked));
  const size_t before = asked.size() - inside.size();
  std::vector<Listing> found;
  const std::lock_guard lock(Leaked<Folders>().mutex);
  os::Stamp now;
  std::string place = FindPlace(before == 0 ? "." : asked.substr(0, std::max<size_t>(before - 1, 1)), &now);
  if (place.empty()) return found;
  for (int i = 0; i < kDeepest; ++i) {
    if (i != 0 && !os::GetStamp(place.c_str(), &now)) break;
    Folder& listed = FolderAt(place, now);
    listed.Find(inside, &found);
    if (!found.empty() || !listed.empty() || place == "/") break;  // this is where distributions were installed
    const size_t last = place.rfind('/');
    if (last == std::string::npos) break;  // a drive of Windows
    inside.insert(0, place.substr(last + 1).append("/"));
    place.resize(std::max<size_t>(last, 1));
  }
  return found;
}

constexpr std::string_view kHashPrefix = "sha256=";
constexpr const char* kVerifyVariable = "KERNPACK_VERIFY";

}  // namespace

std::string InstalledVersion(const std::string& folder, const std::string& name) {
  for (const std::string& info : os::ListNames(folder, kInfo)) {
    const size_t dash = info.find('-');
    if (dash == std::string::npos || NormalName(info) != Normal(name)) continue;
    return info.substr(dash + 1, info.size() - kInfo.size() - dash - 1);
  }
  return {};
}

int ReadVerification(Verification* out) {
  const char* set = std::getenv(kVerifyVariable);
  const std::string_view text = set ? set : "";
  *out = text == "0" ? Verification::kOff : text == "install" ? Verification::kInstall : Verification::kLoad;
  if (*out != Verification::kLoad || text.empty() || text == "load" || text == "1") return 0;
  return kp_raise("ValueError",
                  "kernpack.load: %s: expected load (compare a file with RECORD when it is first loaded), install (the "
                  "installer did that) or 0 (don't compare), got '%.100s'",
                  kVerifyVariable, set);
}

bool VerificationIsOff() {
  const char* wanted = std::getenv(kVerifyVariable);
  return wanted != nullptr && std::strcmp(wanted, "0") == 0;
}

bool CopyIsWanted() {
  const char* wanted = std::getenv("KERNPACK_COPY");
  return wanted != nullptr && *wanted != '\0' && std::strcmp(wanted, "0") != 0;
}

Record::Record(const char* path) : path_(path) {
  if (!VerificationIsOff()) listings_ = FindListings(path);
  std::erase_if(listings_, [](const Listing& listing) { return !listing.hash.starts_with(kHashPrefix); });
}

bool Record::Lists(const std::string& digest) const {
  const std::string hash = std::string(kHashPrefix) + DigestText(digest);
  return std::any_of(listings_.begin(), listings_.end(), [&](const Listing& listing) { return listing.hash == hash; });
}

bool Record::OnlyDigest(std::string* digest) const {
  return listings_.size() == 1 &&
         ReadDigestText(std::string_view(listings_[0].hash).substr(kHashPrefix.size()), digest);
}

int Record::Verify(const std::string& digest, std::string* verified) const {
  verified->clear();
  if (listings_.empty()) return 0;
  const std::string is = std::string(kHashPrefix) + DigestText(digest);
  // Of several, that with the file's hash is it, else the one written last.
  const auto rank = [&is](const Listing& listing) { return std::pair(listing.hash == is, listing.written); };
  const Listing& found = *std::max_element(listings_.begin(), listings_.end(),
                                           [&](const Listing& a, const Listing& b) { return rank(a) < rank(b); });
  if (found.hash != is) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s' isn't the file that %s %s installed: its RECORD says %s, the file has "
                    "%s; run `pip install --force-reinstall %s==%s`, or set KERNPACK_VERIFY=0 where files are "
                    "changed on purpose after they were installed",
                    path_, found.name.c_str(), found.version.c_str(), found.hash.c_str(), is.c_str(),
                    found.name.c_str(), found.version.c_str());
  }
  *verified = found.name + " " + found.version;
  return 0;
}

}  // namespace kernpack::host
