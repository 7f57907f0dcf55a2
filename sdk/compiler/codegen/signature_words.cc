#include "codegen/signature_words.h"

#include <kernpack/error.h>
#include <kernpack/signature/compile.h>

namespace kernpack::sdk {

std::vector<uint32_t> CompileSignature(const std::string& function, const std::string& text) {
  static constexpr const char* kSentences[] = {
#define KP_SENTENCE_(name, sentence) sentence,
      KP_SIGNATURE_REASONS(KP_SENTENCE_)
#undef KP_SENTENCE_
  };
  std::vector<uint32_t> words;
  signature::Status status{signature::Reason::kTextTooLong, 0, 0};
  if (text.size() <= signature::kMaxText) {
    const auto size = static_cast<uint32_t>(text.size());
    words.resize(signature::ProgramCapacity(size));
    std::string pool(signature::PoolCapacity(size), '\0');
    status = signature::Compile(text.data(), size, words.data(), pool.data());
  }
  if (status.reason != signature::Reason::kNone) {
    KP_THROW(ValueError) << function << ": signature '" << text << "', position " << status.position << ": "
                         << kSentences[static_cast<size_t>(status.reason)];
  }
  words.resize(status.words);
  return words;
}

}  // namespace kernpack::sdk
