// Something of everything that kernpack/kernel.h offers; only compiled (test_compilers.py).
#include <kernpack/kernel.h>

#include <string>

namespace kp = kernpack;

static void Norm(kp::TensorView x, std::optional<kp::TensorView> bias, double eps, kp::StringView mode, bool affine,
                 kp::DType dtype, std::optional<kp::Device> device, kp::ListView<kp::TensorView> extra,
                 kp::MutTensorView out, kp::MutTensorView space) {
  KP_CHECK(!extra.empty() || affine, ValueError) << "norm: mode " << mode << " for " << dtype;
  kp::dispatch<float, double, kp::half, kp::bfloat16>(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = x.data_ptr<T>();
    T* to = out.data_ptr<T>();
    kp::parallel_for(x.numel(), 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = in[i];
    });
  });
  if (bias && device) space.data_ptr<uint8_t>()[0] = eps > 0;
}

static kp::Any Everything(kp::AnyView any, const kp::Function& f, kp::ShapeView shape, kp::MapView map, void* handle,
                          int8_t small, uint64_t large, kp::ListView<int64_t> sizes, std::optional<int> maybe) {
  if (handle) return f(any, small, maybe);
  for (const kp::MapView::Pair& pair : map) kp::log(kp::LogLevel::debug, kp::Text() << pair.key.cast<kp::StringView>());
  return kp::Array{kp::Any(static_cast<int64_t>(large)), kp::Any(std::string("x")),
                   kp::Any(sizes.size() + shape.size())};
}

static kp::Tensor Make(int64_t n) {
  kp::Workspace scratch(kp::Device::cpu(), "scratch", 64, kp::zeroed);
  kp::storage_set("n", n, kp::device_scope(kp::Device::cpu()));
  kp::storage_get_or_init("plan", [] { return kp::Function::from([](int x) { return x + 1; }); });
  kp::storage_erase("n");
  kp::check_interrupts();
  (void)kp::stream(kp::Device::cpu());
  (void)kp::storage_keys();
  (void)static_cast<float>(kp::float8_e4m3fn(1.0f));
  (void)static_cast<float>(kp::float8_e5m2(1.0f));
  return kp::Tensor::Empty({n, scratch.data() ? 1 : 0}, kp::f32, kp::Device::cpu());
}

static void Init() {}

KP_MODULE("wide", "1.0.0");
KP_MODULE_INIT(Init);
KP_EXPORT(norm, Norm,
          "norm(x: T[..., D], bias: T[D]? = None, *, eps: float = 1e-6, mode: str in {\"a\", \"b\"} = \"a\", affine: "
          "bool = True, "
          "kind: dtype = f32, place: device? = None, extra: list[T[...]] = []) -> (out: T[..., D]) "
          "where T in {f32, f64, f16, bf16}, D % 2 == 0 with workspace = D * itemsize(T)");
KP_EXPORT(everything, Everything);
KP_EXPORT(make, Make);
KP_DOC(make, "Makes one.");
KP_GRAD(norm, norm_backward);
