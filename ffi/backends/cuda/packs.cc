#include "backends/cuda/packs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "backends/cuda/jit_tools.h"
#include "backends/cuda/text.h"
#include "shared/cuda_arch.h"
#include "shared/sha256.h"

namespace kernpack::cuda {
namespace {

// As kernpack_sdk/slim/packs.py and split.py write them.
constexpr uint16_t kListKind = 0x4b50;
constexpr std::string_view kListMagic = "kernpack.packs.1\n";
constexpr const char* kPackFolder = "kernpack_device_code";
constexpr size_t kFatHeader = 16;

template <class T>
T Number(std::string_view data, size_t at) {
  T value{};
  if (at + sizeof value <= data.size()) std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

// Calls visit(kind, entry with its header, content) for each entry of a fat binary that ReadImage() took.
template <class Visit>
void ForEachEntry(std::string_view fatbin, Visit&& visit) {
  const size_t header = std::min<size_t>(Number<uint16_t>(fatbin, 6), fatbin.size());
  std::string_view rest = fatbin.substr(header, Number<uint64_t>(fatbin, 8));
  while (rest.size() >= 48) {
    const auto entry_header = Number<uint32_t>(rest, 4);
    const auto size = Number<uint64_t>(rest, 8);
    if (entry_header < 48 || entry_header > rest.size() || size > rest.size() - entry_header) return;
    visit(Number<uint16_t>(rest, 0), rest.substr(0, entry_header + size), rest.substr(entry_header, size));
    rest.remove_prefix(entry_header + size);
  }
}

std::string_view TakeWord(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}

void ReadList(std::string_view text, std::vector<CodePack>* out) {
  text = text.substr(0, text.find('\0'));
  if (!text.starts_with(kListMagic)) return;  // of a later version
  text.remove_prefix(kListMagic.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto arch = host::ReadCudaArch(TakeWord(&line));
    const std::string_view digest = TakeWord(&line);
    const bool is_digest =
        digest.size() == kSha256Digits && digest.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (arch && is_digest) out->push_back({arch->number, std::string(digest), std::string(line)});
  }
}

std::optional<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// All but lists of packs, which a driver doesn't know.
void AppendImages(std::string_view fatbin, std::string* out) {
  ForEachEntry(fatbin, [out](uint16_t kind, std::string_view entry, std::string_view /*content*/) {
    if (kind != kListKind) out->append(entry);
  });
}

// The one for exactly the device, or else all for older ones: the driver chooses among their images.
std::vector<CodePack> Suitable(const std::vector<CodePack>& packs, int number) {
  std::vector<CodePack> found;
  for (const CodePack& pack : packs) {
    if (pack.number == number) return {pack};
    if (pack.number < number) found.push_back(pack);
  }
  return found;
}

}  // namespace

std::vector<CodePack> ReadPacks(std::string_view fatbin) {
  std::vector<CodePack> packs;
  ForEachEntry(fatbin, [&packs](uint16_t kind, std::string_view /*entry*/, std::string_view content) {
    if (kind == kListKind) ReadList(content, &packs);
  });
  return packs;
}

bool JoinPacks(const KpHost* host, std::string_view fatbin, const std::vector<CodePack>& packs, int number,
               std::string* out, std::string* why) {
  *out = fatbin.substr(0, kFatHeader);
  const uint16_t header = kFatHeader;
  std::memcpy(out->data() + 6, &header, sizeof header);
  for (const CodePack& pack : Suitable(packs, number)) {
    const std::string below = Format("%s/%s.fatbin", kPackFolder, pack.digest.c_str());
    const std::string folder = FindPackageFolder(host, below);
    if (folder.empty()) continue;
    const std::string path = Format("%s/%s", folder.c_str(), below.c_str());
    const std::optional<std::string> content = ReadWhole(path);
    if (!content || Sha256Hex(content->data(), content->size()) != pack.digest) {
      *why = Format("%s isn't the code that the module was divided into: pip install --force-reinstall \"%s\"",
                    path.c_str(), pack.wheel.c_str());
      return false;
    }
    AppendImages(*content, out);
  }
  AppendImages(fatbin, out);
  const uint64_t size = out->size() - kFatHeader;
  std::memcpy(out->data() + 8, &size, sizeof size);
  return true;
}

std::string AdviceOnPacks(const std::vector<CodePack>& packs, int number) {
  const CodePack* best = nullptr;
  std::string known;
  for (const CodePack& pack : packs) {
    known += (known.empty() ? "sm_" : ", sm_") + std::to_string(pack.number);
    const bool runs = pack.number <= number && pack.number / 10 == number / 10;
    if (runs && (best == nullptr || pack.number > best->number)) best = &pack;
  }
  if (best == nullptr) return Format("the module's wheels have code for %s", known.c_str());
  return Format("its code for sm_%d is in another wheel: pip install \"%s\"", best->number, best->wheel.c_str());
}

}  // namespace kernpack::cuda
