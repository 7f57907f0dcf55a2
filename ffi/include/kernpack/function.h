// Function: a callable of any language; from the host's table of global functions, from an argument, or from a C++ callable.
#ifndef KERNPACK_FUNCTION_H_
#define KERNPACK_FUNCTION_H_

#include <kernpack/glue.h>
#include <kernpack/guard.h>

KP_NAMESPACE_BEGIN
namespace detail {

template <class M>
struct CallableType;
template <class F, class R, class... A>
struct CallableType<R (F::*)(A...) const> : FunctionType<R (*)(A...)> {};
template <class F, class R, class... A>
struct CallableType<R (F::*)(A...) const noexcept> : FunctionType<R (*)(A...)> {};

// A function object with the C++ callable behind the ABI's body.
template <class F>
struct Closure {
  KpFunctionObject object;
  KpInstance* instance;  // whose host hears of errors
  const char* function;  // the one that made it, which names them
  F callable;

  static int call(void* self, const KpAny* args, int32_t n, KpAny* result) noexcept {
    using Type = CallableType<decltype(&F::operator())>;
    Closure* closure = static_cast<Closure*>(self);
    return guarded(Instance::from(closure->instance)->host, closure->function, [&] {
      CallScope scope(closure->instance, closure->function);
      Type::apply(closure->callable, Names{closure->function, nullptr}, args, n, result, typename Type::Indices());
    });
  }
  static void destroy(void* object, int flags) {
    Closure* closure = static_cast<Closure*>(object);
    if (flags & KP_DELETE_STRONG) closure->callable.~F();
    if (flags & KP_DELETE_WEAK) ::operator delete(object);
  }
};

}  // namespace detail

// A function of any language: an argument, a registered function or a C++ callable. Copies share the function. A default-constructed
// Function isn't `defined()` and must not be called.
//
//   kp::Any Apply(kp::Function f, kp::TensorView x) { return f(x, 2.0); }  // an error of f is thrown as kp::Error
//   const kp::Function square = kp::Function::from([](double v) { return v * v; });
//   const kp::Function known = kp::Function::global("my.function");  // ValueError if there is none
class Function {
 public:
  Function() = default;
  explicit Function(detail::Ref<KpFunctionObject> object)
      : object_(static_cast<detail::Ref<KpFunctionObject>&&>(object)) {}

  // From a lambda or functor whose parameter types can be deduced. It may outlive this call and run on any thread. Its
  // exceptions become errors of the host of this call.
  template <class F>
  static Function from(F callable) {
    using Body = detail::Closure<F>;
    KpInstance* instance = reinterpret_cast<KpInstance*>(&detail::current());
    Body* body = detail::new_object<Body>(KP_TYPE_FUNCTION, 0, &Body::destroy);
    body->object.call = &Body::call;
    body->instance = instance;
    body->function = detail::current_function();
    new (&body->callable) F(static_cast<F&&>(callable));
    return Function(detail::Ref<KpFunctionObject>(&body->object));
  }

  // The host's global function of that name, or nothing.
  static std::optional<Function> find_global(StringView name) {
    Any found;
    const KpHost* h = detail::host();
    detail::check_host(h->global_get(h, name, found.out()));
    if (found.is_none()) return std::nullopt;
    return Function(detail::Ref<KpFunctionObject>(reinterpret_cast<KpFunctionObject*>(found.release().v.v_obj)));
  }
  // The host's global function of that name. ValueError if there is none.
  static Function global(StringView name) {
    std::optional<Function> found = find_global(name);
    if (!found) KP_THROW(ValueError) << "there is no global function '" << name << "'";
    return *found;
  }
  // Registers the function for the whole process. ValueError if the name is taken and `replace` is false.
  static void set_global(StringView name, const Function& function, bool replace = false) {
    const KpHost* h = detail::host();
    detail::check_host(h->global_set(h, name, function.object_.object(), replace));
  }

  bool defined() const { return static_cast<bool>(object_); }
  // Calls the function; its errors are thrown as kp::Error.
  template <class... A>
  Any operator()(const A&... args) const {
    const AnyView views[sizeof...(A) + 1] = {AnyView(args)...};
    static_assert(sizeof(AnyView) == sizeof(KpAny), "");
    return call(reinterpret_cast<const KpAny*>(views), static_cast<int32_t>(sizeof...(A)));
  }
  Any call(const KpAny* args, int32_t n) const {
    if (KP_UNLIKELY(!defined())) KP_THROW(TypeError) << "an undefined kp::Function was called";
    Any result;
    detail::check_host(object_->call(object_.get(), args, n, result.out()));
    return result;
  }
  const detail::Ref<KpFunctionObject>& object() const { return object_; }

 private:
  detail::Ref<KpFunctionObject> object_;
};

template <>
struct Traits<Function> {
  static Read read(const KpAny& a, Function* out) {
    if (a.type_index != KP_TYPE_FUNCTION) return Read::kWrongType;
    kp_retain(a.v.v_obj);
    *out = Function(detail::Ref<KpFunctionObject>(reinterpret_cast<KpFunctionObject*>(a.v.v_obj)));
    return Read::kOk;
  }
  static KpAny view(const Function& value) {
    KpAny a = kp_none();
    if (!value.defined()) return a;
    a.type_index = KP_TYPE_FUNCTION;
    a.v.v_obj = value.object().object();
    return a;
  }
  static KpAny own(Function value) {
    const KpAny a = view(value);
    kp_any_retain(&a);
    return a;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "Function";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_FUNCTION_H_
