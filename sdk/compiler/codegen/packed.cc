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
  std::shared_ptr<const Generator> generator;
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
    packed->generator.~shared_ptr();
  }
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

Any Make(const std::string& name, int32_t num_args, PackedBody body, std::shared_ptr<const Generator> generator) {
  auto* packed = static_cast<Packed*>(::operator new(sizeof(Packed)));
  packed->object = KpFunctionObject{{1 | uint64_t{1} << 32, KP_TYPE_FUNCTION, 0, &Delete}, &Call, nullptr};
  packed->num_args = num_args;
  new (&packed->name) std::string(name);
  new (&packed->body) PackedBody(std::move(body));
  new (&packed->generator) std::shared_ptr<const Generator>(std::move(generator));
  KpAny made = kp_none();
  made.type_index = KP_TYPE_FUNCTION;
  made.v.v_obj = &packed->object.header;
  return Any::adopt(made);
}

KpFunctionObject* FunctionIn(const Any& value) { return reinterpret_cast<KpFunctionObject*>(value.raw().v.v_obj); }

}  // namespace

Any MakePacked(const std::string& name, int32_t num_args, PackedBody body) {
  return Make(name, num_args, std::move(body), nullptr);
}

void RegisterPacked(const std::string& name, int32_t num_args, PackedBody body, bool replace,
                    std::shared_ptr<const Generator> generator) {
  const Any made = Make(name, num_args, std::move(body), std::move(generator));
  Check(Host()->global_set(Host(), host::Bytes(name), made.raw().v.v_obj, replace));
}

PackedFunction::PackedFunction(const std::string& name) {
  Check(Host()->global_get(Host(), host::Bytes(name), value_.out()));
}

PackedFunction::operator bool() const { return value_.type_index() == KP_TYPE_FUNCTION; }

Any PackedFunction::operator()(const std::vector<Any>& args) const {
  std::vector<KpAny> values;
  for (const Any& a : args) values.push_back(a.raw());
  KpFunctionObject* const function = FunctionIn(value_);
  Any result;
  Check(function->call(function, values.data(), static_cast<int32_t>(values.size()), result.out()));
  return result;
}

const Generator* PackedFunction::own() const {
  const KpFunctionObject* const function = FunctionIn(value_);
  return function->call == &Call ? reinterpret_cast<const Packed*>(function)->generator.get() : nullptr;
}

}  // namespace kernpack::sdk
