#include "backends/cuda/jit_source.h"

#include <algorithm>
#include <charconv>

#include "backends/cuda/text.h"
#include "shared/sha256.h"

namespace kernpack::cuda {
namespace {

constexpr std::string_view kRecordMagic = "kernpack.cuda.1\n";
constexpr std::string_view kStandInEnd = "\nend of stand-in\n";

// Takes the text before the mark off the front, and the mark.
std::string_view TakeUntil(std::string_view* text, char mark) {
  const size_t end = std::min(text->find(mark), text->size());
  const std::string_view taken = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return taken;
}

void Split(std::string_view text, char mark, std::vector<std::string>* out) {
  while (!text.empty()) {
    std::string_view word = TakeUntil(&text, mark);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) out->emplace_back(word);
  }
}

bool ReadHeader(std::string_view line, std::string_view* rest, JitSource* out) {
  const std::string_view digits = TakeUntil(&line, ' ');
  size_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc() || end != digits.data() + digits.size() || line.empty() || size >= rest->size())
    return false;
  out->headers.emplace_back(line, rest->substr(0, size));
  rest->remove_prefix(size + 1);
  return true;
}

bool ReadStandIn(std::string_view* rest, JitSource* out) {
  const size_t end = rest->find(kStandInEnd);
  if (end == std::string_view::npos || rest->find(".target sm_") > end) return false;
  out->stand_in = rest->substr(0, end + 1);
  rest->remove_prefix(end + kStandInEnd.size());
  return true;
}

// Lines "word value" up to the source, whose line says where its author has it.
bool ReadRecord(std::string_view rest, JitSource* out, std::string* why) {
  while (!rest.empty()) {
    std::string_view line = TakeUntil(&rest, '\n');
    const std::string_view word = TakeUntil(&line, ' ');
    if (word == "options") {
      Split(line, ' ', &out->options);
    } else if (word == "kernels") {
      Split(line, ';', &out->kernels);
    } else if (word == "header") {
      if (ReadHeader(line, &rest, out)) continue;
      *why = "a header of the record is cut off";
      return false;
    } else if (word == "stand-in") {
      if (ReadStandIn(&rest, out)) continue;
      *why = "the stand-in of the record is cut off, or isn't PTX";
      return false;
    } else if (word == "source") {
      const std::string_view first = TakeUntil(&line, ' ');
      out->name = line;
      out->text = first == "1" ? "" : Format("#line %.*s \"%s\"\n", int(first.size()), first.data(), out->name.c_str());
      out->text += rest;
      return true;
    }  // other words are of later versions, and may be ignored
  }
  *why = "the record has no source";
  return false;
}

// The names in the lines that include files.
template <class Visit>
void ForEachInclude(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    std::string_view line = TakeUntil(&text, '\n');
    const auto skip = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    skip();
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip();
    if (!line.starts_with("include")) continue;
    line.remove_prefix(7);
    skip();
    const bool quoted = line.starts_with('"');
    if (!quoted && !line.starts_with('<')) continue;
    line.remove_prefix(1);
    visit(line.substr(0, line.find(quoted ? '"' : '>')));
  }
}

}  // namespace

bool JitSource::NeedsHeaders() const {
  bool needs = false;
  const auto look = [&](std::string_view name) {
    needs = needs || std::none_of(headers.begin(), headers.end(), [&](const auto& own) { return own.first == name; });
  };
  ForEachInclude(text, look);
  for (const auto& header : headers) ForEachInclude(header.second, look);
  return needs;
}

bool ReadJitSource(std::string_view image, std::string_view options, JitSource* out, std::string* why) {
  std::string_view text = image.substr(0, image.find('\0'));
  if (text.size() + 1 < image.size()) {
    *why = Format("expected CUDA C++, got text with a NUL at byte %zu of %zu", text.size(), image.size());
    return false;
  }
  if (text.empty()) {
    *why = "the source is empty";
    return false;
  }
  const std::string whole = std::string(text) + '\0' + std::string(options);
  out->digest = Sha256Hex(whole.data(), whole.size());
  if (text.starts_with(kRecordMagic)) {
    if (!ReadRecord(text.substr(kRecordMagic.size()), out, why)) return false;
  } else {
    out->name = "source.cu";
    out->text = text;
  }
  Split(options, ' ', &out->options);
  const auto sets_standard = [](const std::string& option) { return option.find("-std=") != std::string::npos; };
  if (std::none_of(out->options.begin(), out->options.end(), sets_standard)) out->options.emplace_back("--std=c++17");
  return true;
}

}  // namespace kernpack::cuda
