// A module that uses what kernpack/kernel.h offers; services_test.cc loads it and calls its aliases.
#include <kernpack/kernel.h>

#include <string>

namespace kp = kernpack;

static int64_t Count(kp::StringView key) {
  const std::optional<kp::Any> stored = kp::storage_get(key);
  const int64_t n = stored ? stored->cast<int64_t>() + 1 : 1;
  kp::storage_set(key, n);
  return n;
}

static int64_t Once(int64_t value) {
  return kp::storage_get_or_init("once",
                                 [&] {
                                   if (value < 0) KP_THROW(ValueError) << "once: expected a value >= 0, got " << value;
                                   return value;
                                 })
      .cast<int64_t>();
}

static bool Forget(kp::StringView key) { return kp::storage_erase(key); }

static std::string Keys() {
  std::string text;
  const kp::Array keys = kp::storage_keys();
  for (size_t i = 0; i < keys.size(); ++i) text += keys.at(i).cast<std::string>() + ";";
  return text;
}

static int64_t Ticks(int64_t bytes) {
  kp::Workspace w(kp::Device::cpu(), "ticks", static_cast<uint64_t>(bytes), kp::zeroed);
  return reinterpret_cast<uintptr_t>(w.data()) % 256 == 0 ? ++*w.data_as<int64_t>() : -1;
}

static double DictSum(kp::MapView map, std::optional<kp::StringView> one) {
  if (one) return map.get<double>(*one);
  double sum = 0;
  for (const kp::MapView::Pair& pair : map) sum += pair.value.cast<double>();
  return sum;
}

static std::string DictKeys(kp::MapView map) {
  std::string text;
  for (const kp::MapView::Pair& pair : map) text += pair.key.cast<std::string>() + ";";
  return text;
}

static void Log(int64_t n) { kp::log(kp::LogLevel::warning, kp::Text() << "n = " << n << ", in " << kp::f32); }

static int64_t SumTo(int64_t n) {
  int64_t total = 0;
  kp::parallel_for(n, 16, [&](int64_t begin, int64_t end) {
    int64_t sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += i;
    __atomic_fetch_add(&total, sum, __ATOMIC_RELAXED);
  });
  return total;
}

static kp::Tensor Iota(int64_t n) {
  kp::Tensor out = kp::Tensor::Empty({n}, kp::i64, kp::Device::cpu());
  for (int64_t i = 0; i < n; ++i) out.data_ptr<int64_t>()[i] = i;
  return out;
}

static kp::Any Twice(const kp::Function& f, int64_t x) { return f(f(x)); }

// Sums rows with partial sums in its workspace.
static void RowSum(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView space) {
  double* partial = reinterpret_cast<double*>(space.data_ptr<uint8_t>());
  for (int64_t i = 0; i < x.size(0); ++i) {
    partial[i] = 0;
    for (int64_t j = 0; j < x.size(1); ++j) partial[i] += static_cast<double>(x.data_ptr<float>()[i * x.size(1) + j]);
    out.data_ptr<float>()[i] = static_cast<float>(partial[i]);
  }
}

KP_MODULE("author_services", "1.0.0");
KP_EXPORT(count, Count);
KP_EXPORT(once, Once);
KP_EXPORT(forget, Forget);
KP_EXPORT(keys, Keys);
KP_EXPORT(ticks, Ticks);
KP_EXPORT(dict_sum, DictSum);
KP_EXPORT(dict_keys, DictKeys);
KP_EXPORT(log, Log);
KP_EXPORT(sum_to, SumTo);
KP_EXPORT(iota, Iota);
KP_EXPORT(twice, Twice);
KP_EXPORT(row_sum, RowSum, "(x: f32[N, D]) -> (out: f32[N]) with workspace = N * 8");
