// A host of a few lines, so that the authors' headers are tested without libkernpack.
#ifndef KERNPACK_TESTS_CPP_AUTHOR_FAKE_HOST_H_
#define KERNPACK_TESTS_CPP_AUTHOR_FAKE_HOST_H_

#include <kernpack/abi.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../values.h"

namespace fake {

struct Host {
  KpHost table = {};  // first: a service's `host` argument is this object
  std::string kind, message, backtrace;
  KpObject* raised = nullptr;
  std::vector<std::string> log;
  int tensors = 0;

  static Host* From(const KpHost* h) { return reinterpret_cast<Host*>(const_cast<KpHost*>(h)); }
  static std::string Str(KpBytes b) { return b.size ? std::string(b.data, b.size) : std::string(); }

  Host() {
    table.struct_size = sizeof(KpHost);
    table.abi_version = KP_ABI_VERSION;
    table.raise = [](const KpHost* h, KpBytes kind, KpBytes message, KpBytes backtrace) {
      From(h)->kind = Str(kind);
      From(h)->message = Str(message);
      From(h)->backtrace = Str(backtrace);
      return -1;
    };
    table.raise_object = [](const KpHost* h, KpObject* error) {
      kp_retain(error);
      From(h)->raised = error;
      return -1;
    };
    table.take_error = [](const KpHost* h, KpAny* out) {
      *out = kp_none();
      if (KpObject* e = From(h)->raised) {
        out->type_index = KP_TYPE_ERROR;
        out->v.v_obj = e;
        From(h)->raised = nullptr;
      }
      return 0;
    };
    table.tensor_alloc = [](const KpHost* h, const KpDLTensor* prototype, KpAny* out) {
      const size_t n = static_cast<size_t>(prototype->ndim);
      size_t bytes = static_cast<size_t>(prototype->dtype.bits) / 8;
      for (size_t i = 0; i < n; ++i) bytes *= static_cast<size_t>(prototype->shape[i]);
      auto* object = static_cast<KpTensorObject*>(std::calloc(1, sizeof(KpTensorObject) + 2 * n * 8 + bytes));
      object->header.counts = 1 | static_cast<uint64_t>(1) << 32;
      object->header.type_index = KP_TYPE_TENSOR;
      object->header.deleter = [](void* o, int flags) {
        if (flags & KP_DELETE_WEAK) std::free(o);
      };
      auto* shape = reinterpret_cast<int64_t*>(object + 1);
      if (n) std::memcpy(shape, prototype->shape, n * sizeof(int64_t));
      kp_row_major_strides(prototype->ndim, shape, shape + n);
      object->tensor = *prototype;
      object->tensor.shape = shape;
      object->tensor.strides = shape + n;
      object->tensor.data = shape + 2 * n;
      out->type_index = KP_TYPE_TENSOR;
      out->v.v_obj = &object->header;
      ++From(h)->tensors;
      return 0;
    };
    table.get_extension = [](const KpHost*, KpBytes, uint32_t, const void** out) {
      *out = nullptr;
      return 0;
    };
    table.log = [](const KpHost* h, int32_t, KpBytes line) {
      From(h)->log.push_back(Str(line));
      return 0;
    };
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
};

// One host's instance of an embedded module, and calls by name.
struct Loaded {
  const KpModule* module;
  Host* host;
  KpInstance* self = nullptr;
  int rc = 0;

  Loaded(const KpModule* m, Host* h) : module(m), host(h) { rc = m->create(&h->table, &self); }
  ~Loaded() {
    if (rc == 0) module->destroy(self);
  }
  const KpFunctionDef* Find(const char* name, const char* target = nullptr) const {
    for (auto p = module->functions; p != module->functions_end; ++p) {
      const char* its = p->info->target;
      const bool same_target = target ? its && !std::strcmp(its, target) : !its;
      if (p->info->kind == KP_DEF_FUNCTION && !std::strcmp(p->name, name) && same_target) return p;
    }
    return nullptr;
  }
  int Call(const char* name, std::vector<KpAny> args, KpAny* result) const {
    *result = kp_none();
    return Find(name)->call(self, args.data(), static_cast<int32_t>(args.size()), result);
  }
};

using kernpack_test::Float;
using kernpack_test::Int;
inline KpAny Str(const char* text) { return kernpack_test::RawStr(text); }
inline KpAny TensorPtr(KpDLTensor* t) {
  KpAny a = kp_none();
  a.type_index = KP_TYPE_DLTENSOR_PTR;
  a.v.v_tensor = t;
  return a;
}

}  // namespace fake

#endif  // KERNPACK_TESTS_CPP_AUTHOR_FAKE_HOST_H_
