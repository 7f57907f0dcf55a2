// A checked call from positional arguments: what an alias and kp_call do alike. Fills defaults, checks, allocates results that
// were not given, adds the workspace, calls.
#ifndef KERNPACK_SIGNATURE_INVOKE_H_
#define KERNPACK_SIGNATURE_INVOKE_H_

#include <kernpack/signature/check.h>
#include <kernpack/signature/lend.h>
#include <kernpack/signature/policy.h>
#include <kernpack/signature/typed_call.h>

KP_NAMESPACE_BEGIN
namespace signature {

template <class Extents = KnownExtents>
class Invocation {
 public:
  Invocation(const uint32_t* program, const char* function, const InvokePolicy& policy)
      : p_{program}, function_(function), policy_(policy), raiser_{policy.self, policy.raise} {}
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  ~Invocation() {
    for (int i = 0; i < num_owned_; ++i) kp_any_release(&owned_[i]);
  }

  int Run(const KpAny* args, int32_t n, KpAny* result) {
    const int params = p_.NumParams();
    const int results = p_.NumResults();
    const bool given = results && n == params + results;
    if (KP_UNLIKELY(n < 0 || (n > params && !given))) return WrongCount(n);
    for (int i = 0; i < params; ++i) {
      if (KP_LIKELY(i < n)) {
        args_[i] = args[i];
      } else if (FillDefault(i, n)) {
        return -1;
      }
    }
    for (int i = 0; given && i < results; ++i) {
      args_[params + i] = args[params + i];
      if (args[params + i].type_index == KP_TYPE_NONE) {
        return Raise("TypeError", "expected a tensor to write result %i (%s) to, got None", i, p_.ResultName(i), 0);
      }
    }
    if (TypedCall(p_, function_, *this, args_, given)) return -1;
    return given ? 0 : Return(result);
  }

  // The services that TypedCall needs from its caller.
  const Raiser& raiser() const { return raiser_; }
  int Check(const KpAny* args, const KpAny* destinations, KpSigFrame* frame) {
    return signature::Check(p_.words, function_, args, destinations, 0, raiser_, frame, Extents());
  }
  int Resolve(KpDLDevice device, Implementation* out) {
    return policy_.resolve(policy_.self, device, &out->call, &out->self);
  }
  int Lend(const KpSigFrame& frame, KpAny* lent) { return signature::Lend(frame, function_, raiser_, *this, lent); }
  int Enter(KpDLDevice) { return 0; }
  void Leave(KpDLDevice) {}

  // The services that Lend needs for its memory.
  int Result(int, const KpDLTensor& prototype, KpAny* out) {
    if (policy_.alloc(policy_.self, &prototype, out)) return -1;
    owned_[num_owned_++] = *out;
    return 0;
  }
  int Workspace(const KpDLTensor& prototype, KpAny* out) {
    void* data = nullptr;
    const uint64_t bytes = static_cast<uint64_t>(prototype.shape[0]);
    if (bytes && policy_.workspace(policy_.self, prototype.device, bytes, &data)) return -1;
    workspace_.Set(prototype.device, bytes, data);
    *out = workspace_.value();
    return 0;
  }

 private:
  KP_COLD int WrongCount(int32_t n) {
    Text names;
    for (int i = 0; i < p_.NumParams(); ++i) names << (i ? ", " : "") << p_.ParamName(i);
    for (int i = 0; i < p_.NumResults(); ++i) names << (i ? ", " : "; or with its results: ") << p_.ResultName(i);
    return Raise("TypeError", "expected at most %i arguments (%s), got %i", p_.NumParams(), names.c_str(), n);
  }

  KP_COLD int Raise(const char* kind, const char* format, int64_t a, const char* text, int64_t b) {
    return Complain{p_, function_, raiser_, KpSigFrame{}}.Raise(kind, format, a, text, b);
  }

  KP_COLD int FillDefault(int i, int32_t n) {
    const uint32_t* record = p_.Param(i);
    if (!record[3]) {
      return Raise("TypeError", "expected at least %i arguments (%s has no default), got %i", i + 1, p_.ParamName(i),
                   n);
    }
    const uint32_t* at = p_.words + record[3];
    if ((*at & 0xff) != kListDefault) {
      args_[i] = ReadDefault(p_, at);
      return 0;
    }
    const uint32_t count = Operand(*at);
    if (MakeArray(count, &args_[i])) return Raise("MemoryError", "%i bytes for %s", count * 16, p_.ParamName(i), 0);
    auto* list = reinterpret_cast<KpSequenceObject*>(args_[i].v.v_obj);
    for (uint32_t j = 0; j < count; ++j) list->data[j] = ReadDefault(p_, at + 1 + 3 * j);
    owned_[num_owned_++] = args_[i];
    return 0;
  }

  int Return(KpAny* result) {
    const int results = p_.NumResults();
    const KpAny* first = &args_[p_.NumParams()];
    if (results == 0) return 0;
    if (results == 1) {
      *result = *first;
    } else {
      if (MakeArray(static_cast<uint32_t>(results), result))
        return Raise("MemoryError", "%i results%s", results, "", 0);
      auto* list = reinterpret_cast<KpSequenceObject*>(result->v.v_obj);
      for (int i = 0; i < results; ++i) list->data[i] = first[i];
    }
    num_owned_ -= results;  // they are the last ones, and the caller's now
    return 0;
  }

  View p_;
  const char* function_;
  const InvokePolicy& policy_;
  Raiser raiser_;
  int num_owned_ = 0;
  KpAny args_[KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS + 1];
  KpAny owned_[KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS];
  WorkspaceView workspace_;
};

// args: the parameters in order, trailing ones with defaults left out as wanted; or all parameters and then a destination for each
// result: then *result stays NONE. Else *result is the TENSOR, or an ARRAY of several.
inline int Invoke(const uint32_t* program, const char* function, const KpAny* args, int32_t n, KpAny* result,
                  const InvokePolicy& policy) {
  return Invocation<>(program, function, policy).Run(args, n, result);
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_INVOKE_H_
