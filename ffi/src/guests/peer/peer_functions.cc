// Global functions and big integers of a loaded libtvm_ffi.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "base/loaded_libraries.h"
#include "values/object/object.h"
#include "guests/peer/library.h"
#include "guests/peer/peer.h"
#include "guests/peer/version.h"

namespace kernpack::host {
namespace {

struct Functions {
  int (*get_global)(const KpBytes* name, void** out);
  int (*big_int_new)(const KpBytes* words, KpAny* out);  // these two: NULL before 0.1.16
  KpBytes (*big_int_words)(const KpAny* value);
};

constinit LookedUp<Functions> g_functions;

template <class F>
void ReadSymbol(void* library, const char* name, F* out) {
  *out = reinterpret_cast<F>(FindInLibrary(library, name));
}

bool SearchFunctions(Functions* out) {
  void* library = FindLoaded(KP_LIBRARY_FILE("tvm_ffi"));
  if (library == nullptr || !IsSupported(GetPeerVersion(library))) return false;
  ReadSymbol(library, "TVMFFIFunctionGetGlobal", &out->get_global);
  ReadSymbol(library, "TVMFFIBigIntFromByteArray", &out->big_int_new);
  ReadSymbol(library, "TVMFFIBigIntGetContentByteArray", &out->big_int_words);
  return out->get_global != nullptr;
}

const Functions* PeerFunctions() noexcept { return g_functions.Get(SearchFunctions); }

}  // namespace

bool PeerLoaded() noexcept { return PeerFunctions() != nullptr; }

int PeerGlobal(KpBytes name, KpAny* out) {
  *out = kp_none();
  const Functions* functions = PeerFunctions();
  void* found = nullptr;
  if (functions == nullptr) return 0;
  // Its functions are called with our stream and allocator, which takes the rest of the library.
  if (PeerRequire("a global function") != 0 || functions->get_global(&name, &found) != 0) return -1;
  if (found != nullptr) SetObject(out, found);
  return 0;
}

// "ffi.FunctionListGlobalNamesFunctor"() gives a function: of -1 the count, of i a name.
std::set<std::string> PeerGlobalNames() {
  std::set<std::string> names;
  OwnedAny make;
  OwnedAny list;
  OwnedAny count;
  KpAny index = kp_none();
  index.type_index = KP_TYPE_INT;
  index.v.v_int = -1;
  const bool listed =
      PeerGlobal(kp_bytes("ffi.FunctionListGlobalNamesFunctor"), make.out()) == 0 &&
      make.get().type_index == KP_TYPE_FUNCTION && kp_function_call(make.get().v.v_obj, nullptr, 0, list.out()) == 0 &&
      list.get().type_index == KP_TYPE_FUNCTION && kp_function_call(list.get().v.v_obj, &index, 1, count.out()) == 0;
  for (index.v.v_int = 0; listed && index.v.v_int < count.get().v.v_int; ++index.v.v_int) {
    OwnedAny name;
    KpBytes text{nullptr, 0};
    if (kp_function_call(list.get().v.v_obj, &index, 1, name.out()) != 0) break;
    if (kp_any_str(&name.get(), &text)) names.emplace(text.data, text.size);
  }
  kp_error_clear();
  return names;
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_big_int_words(const KpAny* value, const int64_t** out_words, size_t* out_count) {
  return Guard("kp_big_int_words", [&] {
    *out_words = nullptr;
    *out_count = 0;
    if (value->type_index == KP_TYPE_INT) {
      *out_words = &value->v.v_int;
      *out_count = 1;
      return 0;
    }
    const Functions* functions = PeerFunctions();
    if (value->type_index != KP_TYPE_BIG_INT || functions == nullptr || functions->big_int_words == nullptr) {
      return kp_raise("TypeError", "kp_big_int_words: expected an int, got %s", kp_type_name(value->type_index));
    }
    const KpBytes content = functions->big_int_words(value);
    *out_words = reinterpret_cast<const int64_t*>(content.data);
    *out_count = content.size / sizeof(int64_t);
    return 0;
  });
}

int kp_big_int_new(const int64_t* words, size_t count, KpAny* out) {
  return Guard("kp_big_int_new", [&] {
    *out = kp_none();
    const Functions* functions = PeerFunctions();
    if (count <= 1) {
      out->type_index = KP_TYPE_INT;
      out->v.v_int = count == 0 ? 0 : words[0];
      return 0;
    }
    if (functions == nullptr || functions->big_int_new == nullptr) {
      return kp_raise("OverflowError",
                      "expected an int of 64 bits (-2**63 to 2**63 - 1): larger ones are BigInt objects, which need "
                      "apache-tvm-ffi 0.1.16 or newer in the process");
    }
    const KpBytes content{reinterpret_cast<const char*>(words), count * sizeof(int64_t)};
    return functions->big_int_new(&content, out);
  });
}
