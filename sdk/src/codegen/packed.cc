#include "codegen/packed.h"

#include <kernpack/guard.h>
#include <kernpack/object.h>

#include "target/host.h"

namespace kernpack::sdk {
namespace {

struct Packed {
  KpFunctionObject object;
  int32_t num_args;
  std::string name;
  PackedBody body;
};

int Call(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const Packed& packed = *static_cast<const Packed*>(self);
  return kernpack::detail::guarded<kernpack::detail::Naming::kForeign>(Host(), packed.name.c_str(), [&] {
    if (n != packed.num_args) {
      KP_THROW(TypeError) << packed.name.c_str() << ": expected " << packed.num_args << " arguments, got " << n;
    }
    *result = packed.body(args).release();
  });
}

void Delete(void* object, int flags) {
  Packed* packed = static_cast<Packed*>(object);
  if (flags & KP_DELETE_STRONG) {
    packed->name.~basic_string();
    packed->body.~PackedBody();
  }
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

}  // namespace

Any MakePacked(const std::string& name, int32_t num_args, PackedBody body) {
  auto* packed = static_cast<Packed*>(::operator new(sizeof(Packed)));
  packed->object = KpFunctionObject{{1 | uint64_t{1} << 32, KP_TYPE_FUNCTION, 0, &Delete}, &Call, nullptr};
  packed->num_args = num_args;
  new (&packed->name) std::string(name);
  new (&packed->body) PackedBody(std::move(body));
  KpAny made = kp_none();
  made.type_index = KP_TYPE_FUNCTION;
  made.v.v_obj = &packed->object.header;
  return Any::adopt(made);
}

void RegisterPacked(const std::string& name, int32_t num_args, PackedBody body, bool replace) {
  const Any made = MakePacked(name, num_args, std::move(body));
  Check(Host()->global_set(Host(), BytesOf(name), made.raw().v.v_obj, replace));
}

bool HasPacked(const std::string& name) {
  HostValue found;
  Check(Host()->global_get(Host(), BytesOf(name), found.out()));
  return found.get().type_index == KP_TYPE_FUNCTION;
}

Any CallPacked(const std::string& name, const std::vector<Any>& args) {
  HostValue found;
  Check(Host()->global_get(Host(), BytesOf(name), found.out()));
  if (found.get().type_index != KP_TYPE_FUNCTION) {
    KP_THROW(RuntimeError) << "there is no global function '" << name.c_str() << "'";
  }
  std::vector<KpAny> values;
  for (const Any& a : args) values.push_back(a.raw());
  auto* function = reinterpret_cast<KpFunctionObject*>(found.get().v.v_obj);
  Any result;
  Check(function->call(function, values.data(), static_cast<int32_t>(values.size()), result.out()));
  return result;
}

}  // namespace kernpack::sdk
