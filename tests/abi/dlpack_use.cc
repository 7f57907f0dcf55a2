// kernpack/dlpack.h with any dlpack.h. Prints what failed; exits with the number of failures.
#include <kernpack/dlpack.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace dl = kernpack::dlpack;

namespace {

int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), ++failures

// "<kind>: <message>" of the error that `f` throws.
template <class F>
std::string Thrown(F f) {
  try {
    f();
  } catch (const kernpack::Error& e) {
    return std::string(e.kind().data, e.kind().size) + ": " + e.what();
  }
  return "no error";
}

float data[6] = {1, 2, 3, 4, 5, 6};
int64_t shape[] = {2, 3};
int64_t strides[] = {1, 2};
int deleted = 0;

DLTensor Theirs() {
  DLTensor t;
  std::memset(&t, 0, sizeof(t));
  t.data = data;
  t.device = {kDLCPU, 0};
  t.ndim = 2;
  t.dtype = {kDLFloat, 32, 1};
  t.shape = shape;
  t.strides = strides;
  t.byte_offset = 4;
  return t;
}

template <class Managed>
Managed* Make() {
  auto* managed = new Managed();
  managed->dl_tensor = Theirs();
  managed->dl_tensor.byte_offset = 0;
  managed->deleter = [](Managed* self) {
    ++deleted;
    delete self;
  };
  return managed;
}

void Views() {
  const DLTensor theirs = Theirs();
  const dl::View view(theirs);
  const kernpack::TensorView x = view;
  EXPECT(x.dim() == 2 && x.size(1) == 3 && x.stride(0) == 1 && x.dtype() == kernpack::f32);
  EXPECT(*x.data_ptr<float>() == 2);
  *view.mutable_view().data_ptr<float>() = 7;
  EXPECT(data[1] == 7);
  const DLTensor back = dl::tensor(x);
  EXPECT(std::memcmp(&back, &theirs, sizeof(back)) == 0);
  data[1] = 2;
}

void Unversioned() {
  deleted = 0;
  DLManagedTensor* shared = nullptr;
  {
    const kernpack::Tensor x = dl::own(Make<DLManagedTensor>());
    EXPECT(x.at<float>(1, 2) == 6);
    shared = dl::share(x);
  }
  EXPECT(deleted == 0);
  EXPECT(static_cast<float*>(shared->dl_tensor.data)[5] == 6 && shared->dl_tensor.strides[1] == 2);
  EXPECT(dl::View(*shared).view().size(0) == 2);
  shared->deleter(shared);
  EXPECT(deleted == 1);
  auto* wrong = Make<DLManagedTensor>();
  wrong->dl_tensor.ndim = -1;
  EXPECT(Thrown([&] { dl::own(wrong); }).find("ValueError: DLPack: ") == 0);
  EXPECT(deleted == 1);
  wrong->deleter(wrong);
}

#if defined(DLPACK_MAJOR_VERSION)

DLManagedTensorVersioned* Versioned(uint64_t flags, DLDataType dtype = {kDLFloat, 32, 1}) {
  auto* managed = Make<DLManagedTensorVersioned>();
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags = flags;
  managed->dl_tensor.dtype = dtype;
  return managed;
}

void Flags() {
  deleted = 0;
  for (const uint64_t flags : {0, 1, 2, 3, 4, 7}) {
    const kernpack::Tensor x = dl::own(Versioned(flags, {kDLFloat4_e2m1fn, 4, 1}));
    DLManagedTensorVersioned* shared = dl::share_versioned(x);
    EXPECT(shared->version.major == 1);
    EXPECT(shared->flags == (flags & ~uint64_t{KP_DLPACK_COPIED}));  // its first consumer no longer is the only one
    shared->deleter(shared);
  }
  EXPECT(deleted == 6);
  const kernpack::Tensor read_only = dl::own(Versioned(KP_DLPACK_READ_ONLY));
  EXPECT(Thrown([&] { dl::share(read_only); }).find("BufferError: the tensor is read-only") == 0);

  DLManagedTensorVersioned* managed = Versioned(KP_DLPACK_READ_ONLY);
  EXPECT(dl::View(*managed).view().numel() == 6);
  EXPECT(Thrown([&] {
           dl::View(*managed).mutable_view();
         }).find("BufferError: kp::dlpack::View: expected a tensor that may be") == 0);
  managed->flags = KP_DLPACK_PADDED;
  EXPECT(dl::View(*managed).mutable_view().numel() == 6);  // a float takes whole bytes anyway
  managed->dl_tensor.dtype = {kDLFloat4_e2m1fn, 4, 1};
  EXPECT(Thrown([&] {
           dl::View{*managed};
         }).find("BufferError: kp::dlpack::View: expected packed elements, got elements of 4 bits") == 0);
  managed->version.major = 2;
  EXPECT(Thrown([&] {
           dl::View{*managed};
         }).find("BufferError: kp::dlpack::View: expected a tensor of DLPack 1, got one of version 2.") == 0);
  managed->deleter(managed);
}

// A framework's table: its "objects" are managed tensors.
int Allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  if (prototype->ndim != 2) return set_error(context, "MemoryError", "only matrices"), -1;
  *out = Versioned(0);
  return 0;
}
int FromObject(void* object, DLManagedTensorVersioned** out) {
  *out = static_cast<DLManagedTensorVersioned*>(object);
  return object ? 0 : -1;
}
int ToObject(DLManagedTensorVersioned* managed, void** out) { return *out = managed, 0; }

void Table() {
  deleted = 0;
  DLPackExchangeAPI table{};
  table.header.version = {1, 3};
  table.managed_tensor_allocator = Allocate;
  table.managed_tensor_from_py_object_no_sync = FromObject;
  table.managed_tensor_to_py_object_no_sync = ToObject;
  DLPackExchangeAPIHeader later{{2, 0}, &table.header};
  EXPECT(kp_dl_table(&later) == &table);
  later.prev_api = nullptr;
  EXPECT(kp_dl_table(&later) == nullptr);

  KpAny x = kp_none();
  EXPECT(kp_dl_from_object(&table, Versioned(KP_DLPACK_READ_ONLY), &x) == 0);
  EXPECT(kp_tensor_flags(x.v.v_obj) == KP_DLPACK_READ_ONLY);
  void* object = nullptr;
  EXPECT(kp_dl_to_object(&table, x.v.v_obj, &object) == 0);
  kp_any_release(&x);
  auto* managed = static_cast<DLManagedTensorVersioned*>(object);
  EXPECT(managed->flags == KP_DLPACK_READ_ONLY && deleted == 0);
  managed->deleter(managed);
  EXPECT(deleted == 1);
  EXPECT(kp_dl_from_object(&table, nullptr, &x) == 1);

  KpDLTensor prototype{nullptr, {KP_DEVICE_CPU, 0}, 2, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  EXPECT(kp_dl_allocate(&table, &prototype, &x) == 0);
  kp_any_release(&x);
  EXPECT(deleted == 2);
  prototype.ndim = 1;
  EXPECT(kp_dl_allocate(&table, &prototype, &x) == -1);
  EXPECT(Thrown([] { dl::detail::check(-1, "test"); }) == "MemoryError: kp_dl_allocate: only matrices");
}

#endif

}  // namespace

int main() {
  Views();
  Unversioned();
#if defined(DLPACK_MAJOR_VERSION)
  Flags();
  Table();
#endif
  return failures;
}
