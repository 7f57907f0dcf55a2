// Text to contract: compiled once per text, kept until the process ends.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <kernpack/signature/compile.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "base/abi_version.h"
#include "values/object/object.h"
#include "values/signature/signature.h"

namespace kernpack::host {
namespace {

struct Interned {
  ForkMutex mutex{LockRank::kNames};
  std::unordered_map<std::string_view, std::unique_ptr<KpSignature>> by_text;  // keys point into the values
};

constexpr const char* kSentences[] = {
#define KP_SENTENCE_(name, sentence) (sentence),
    KP_SIGNATURE_REASONS(KP_SENTENCE_)
#undef KP_SENTENCE_
};

// The text around `position`, one line.
std::string Near(std::string_view text, uint32_t position) {
  const size_t begin = position > 20 ? position - 20 : 0;
  return (begin ? "..." : "") + std::string(text.substr(begin, position - begin)) + " <here> " +
         std::string(text.substr(position, 20)) + (text.size() > position + 20 ? "..." : "");
}

int RaiseLater(const char* name, const std::string& needs, const std::string& why) {
  return kp_raise("ImportError",
                  "%s%sthe signature needs a host of ABI %s or newer%s%s%s; this is %s: pip install -U kernpack",
                  name ? name : "", name ? ": " : "", needs.c_str(), why.empty() ? "" : " (", why.c_str(),
                  why.empty() ? "" : ")", VersionText(KP_ABI_VERSION).c_str());
}

// The number that a text begins with.
std::string GetVersion(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \n\t\r"), text.size());
  return std::string(text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin));
}

int RaiseStatus(const signature::Status& status, std::string_view text, const char* name) {
  if (status.reason == signature::Reason::kOfAnotherAbi) return RaiseLater(name, GetVersion(text), "");
  return kp_raise("ValueError", "%s%ssignature, position %u: %s: %s", name ? name : "", name ? ": " : "",
                  status.position, kSentences[static_cast<size_t>(status.reason)], Near(text, status.position).c_str());
}

const KpSignature* Find(std::string_view text) {
  auto& interned = Leaked<Interned>();
  const std::lock_guard lock(interned.mutex);
  const auto found = interned.by_text.find(text);
  return found == interned.by_text.end() ? nullptr : found->second.get();
}

const KpSignature* Keep(std::unique_ptr<KpSignature> made) {
  auto& interned = Leaked<Interned>();
  const std::lock_guard lock(interned.mutex);
  const std::string_view key = made->text;
  return interned.by_text.try_emplace(key, std::move(made)).first->second.get();
}

int Parse(std::string_view text, const char* name, const KpSignature** out) {
  const KpSignature* signature = Find(text);
  if (!signature) {
    if (text.size() > signature::kMaxText) {
      return RaiseStatus({signature::Reason::kTextTooLong, signature::kMaxText, 0}, text, name);
    }
    const auto size = static_cast<uint32_t>(text.size());
    auto made = std::make_unique<KpSignature>();
    made->text = text;
    made->program.resize(signature::ProgramCapacity(size));
    std::string pool(signature::PoolCapacity(size), '\0');
    const signature::Status status = signature::Compile(made->text.data(), size, made->program.data(), pool.data());
    if (status.reason != signature::Reason::kNone) return RaiseStatus(status, text, name);
    made->program.resize(status.words);
    made->program.shrink_to_fit();
    signature = Keep(std::move(made));
  }
  const std::string_view own = signature::View{signature->program.data()}.Name();
  if (name && !own.empty() && own != name) {
    return kp_raise("ValueError", "%s: signature: expected the name %s or none, got %s", name, name, own.data());
  }
  *out = signature;
  return 0;
}

// A copy for `compact` is made by the code that KP_EXPORT puts before the kernel, which a compiled contract comes with.
int CheckCompact(const KpFunctionInfo& info, const char* name, signature::View view) {
  for (int i = 0; !info.program && i < view.NumParams(); ++i) {
    if (!signature::IsMarkedCompact(view.Param(i))) continue;
    return kp_raise("ValueError",
                    "%s: signature: %s is marked 'compact', but the function has no code that makes the copy, which "
                    "C++'s KP_EXPORT brings: export it so; or mark it 'strided' and use the strides",
                    name, view.ParamName(i));
  }
  return 0;
}

int RaiseInHost(void*, const char* kind, KpBytes text) {
  return kp_raise(kind, "%.*s", static_cast<int>(text.size), text.data);
}

}  // namespace

const signature::Raiser kHostRaiser = {nullptr, &RaiseInHost};

int ParseContract(const KpFunctionInfo& info, const char* name, uint32_t abi, const KpSignature** out) {
  const uint32_t needs = signature::GetAbi(info.program, info.program_words);
  if (needs > KP_ABI_VERSION) return RaiseLater(name, VersionText(needs), "");
  if (kp_signature_parse(kp_bytes(info.signature), name, out) == 0) {
    return CheckCompact(info, name, signature::View{(*out)->program.data()});
  }
  if (abi <= KP_ABI_VERSION) return -1;
  // A text without a program or a version: what is not understood may well be later.
  OwnedAny error;
  kp_error_take(name, -1, error.out());
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.get().v.v_obj);
  if (View(body->kind) != "ValueError") return kp_host()->raise_object(kp_host(), error.get().v.v_obj);
  return RaiseLater(name, VersionText(abi), std::string(View(body->message)));
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_signature_parse(KpBytes text, const char* name, const KpSignature** out) {
  return Guard("kp_signature_parse", [&] { return Parse(View(text), name, out); });
}

const char* kp_signature_text(const KpSignature* signature) { return signature->text.c_str(); }

const uint32_t* kp_signature_program(const KpSignature* signature) { return signature->program.data(); }
