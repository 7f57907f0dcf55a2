#include "execute/raise.h"

#include "target/host.h"

namespace kernpack::sdk::program {

signature::Raiser HostRaiser() {
  return {nullptr,
          [](void*, const char* kind, KpBytes text) { return Host()->raise(Host(), kp_bytes(kind), text, KpBytes{}); }};
}

void ThrowRaisedBy(const char* function) {
  KpAny error = kp_none();
  Host()->take_error(Host(), &error);
  if (error.type_index == KP_TYPE_ERROR) throw Error(reinterpret_cast<KpErrorObject*>(error.v.v_obj));
  KP_THROW(InternalError) << function << ": returned -1 without an error";
}

// Through an Error object, which has a copy of the kind.
void Rethrow(const std::string& where, const Error& error) {
  const std::string text = where + ": " + error.what();
  Host()->raise(Host(), error.kind(), {text.data(), text.size()}, KpBytes{});
  ThrowRaisedBy(where.c_str());
}

}  // namespace kernpack::sdk::program
