// XLA's foreign-function C interface, as much of it as we use, declared by us from the layouts that jaxlib documents in
// xla/ffi/api/c_api.h (versions 0.1 to 0.3). Every struct that XLA hands over begins with its own size: a reader asks for
// "at least", never for "equal", and never touches a field beyond it.
#ifndef KERNPACK_SRC_GUESTS_XLA_XLA_FFI_ABI_H_
#define KERNPACK_SRC_GUESTS_XLA_XLA_FFI_ABI_H_

#include <cstddef>
#include <cstdint>

namespace kernpack::xla {

inline constexpr int kApiMajor = 0;
inline constexpr int kApiMinor = 3;  // the newest minor whose layouts are declared here

struct Error;  // XLA's, opaque
struct ExecutionContext;  // XLA's, opaque
struct CallFrame;

struct Extension {  // a chain; XLA adds kinds, so unknown ones are stepped over
  size_t struct_size;
  int32_t type;
  Extension* next;
};
inline constexpr int32_t kMetadataExtension = 1;

struct ApiVersion {
  size_t struct_size;
  Extension* extension;
  int32_t major;
  int32_t minor;
};

enum class ErrorCode : int32_t {
  kCancelled = 1,
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
};

enum class DataType : int32_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kC64 = 15,
  kBf16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3Fn = 20,
  kS4 = 21,
  kU4 = 22,
  kF8E4M3B11Fnuz = 23,
  kF8E5M2Fnuz = 24,
  kF8E4M3Fnuz = 25,
  kS2 = 26,
  kU2 = 27,
  kF8E4M3 = 28,
  kF8E3M4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4E2M1Fn = 32,
  kF8E8M0Fnu = 33,
};
inline constexpr int32_t kDataTypeEnd = 34;

enum class Stage : int32_t { kInstantiate = 0, kPrepare = 1, kInitialize = 2, kExecute = 3 };

inline constexpr int32_t kBufferArgument = 1;
struct Buffer {  // dense row-major; no strides, no device
  size_t struct_size;
  Extension* extension;
  DataType dtype;
  void* data;
  int64_t rank;
  int64_t* dims;  // length rank, in logical elements
};

struct BufferList {  // XLA's Args and Rets, which have one layout
  size_t struct_size;
  Extension* extension;
  int64_t size;
  int32_t* types;  // length size
  void** items;  // length size; Buffer* where the type is kBufferArgument
};

enum class AttributeType : int32_t { kArray = 1, kDictionary = 2, kScalar = 3, kString = 4 };
struct Span {  // not NUL-terminated
  const char* data;
  size_t size;
};
struct Scalar {
  DataType dtype;
  void* value;
};
struct Array {
  DataType dtype;
  size_t size;  // in elements
  void* data;
};
struct Attributes {  // sorted by name; also what a DICTIONARY points at
  size_t struct_size;
  Extension* extension;
  int64_t size;
  AttributeType* types;  // length size
  Span** names;  // length size
  void** values;  // length size: Array*, Attributes*, Scalar* or Span*
};

struct TypeId {
  int64_t value;  // 0: not allotted
};
struct TypeInfo {
  size_t struct_size;
  Extension* extension;
  void (*deleter)(void* object);
};

// ---- arguments of the calls into XLA -------------------------------------------------------------------------------

struct ErrorCreateArgs {
  size_t struct_size;
  Extension* extension;
  const char* message;
  ErrorCode code;
};
struct ErrorMessageArgs {
  size_t struct_size;
  Extension* extension;
  Error* error;
  const char* message;  // out
};
struct ErrorDestroyArgs {
  size_t struct_size;
  Extension* extension;
  Error* error;
};
struct TypeRegisterArgs {
  size_t struct_size;
  Extension* extension;
  Span name;
  TypeId* id;  // in: 0 asks for a new one
  const TypeInfo* info;  // from minor 2
};
struct StateSetArgsV1 {  // minor 1: the deleter travels with each state
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  TypeId* id;
  void* state;
  void (*deleter)(void* state);
};
struct StateArgsV2 {  // Set of minor 2; Get of minors 1 and 2, where `state` is the result
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  TypeId* id;
  void* state;
};
struct StateArgsV3 {  // Set and Get of minor 3
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  Stage stage;
  TypeId* id;
  void* state;
};
struct StreamGetArgs {
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  void* stream;  // out
};
struct OrdinalGetArgs {
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  int32_t ordinal;  // out
};
struct ScheduleArgs {
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  void (*task)(void* data);
  void* data;
};
struct NumThreadsArgs {
  size_t struct_size;
  Extension* extension;
  ExecutionContext* context;
  int64_t* count;  // out
};

// ---- the function table --------------------------------------------------------------------------------------------

using NotUsed = void (*)();
struct Api {
  size_t struct_size;
  Extension* extension;
  ApiVersion version;
  const void* internal;
  Error* (*error_create)(ErrorCreateArgs*);
  void (*error_message)(ErrorMessageArgs*);
  void (*error_destroy)(ErrorDestroyArgs*);
  NotUsed handler_register;
  Error* (*stream_get)(StreamGetArgs*);
  Error* (*type_register)(TypeRegisterArgs*);
  NotUsed execution_context_get;
  Error* (*state_set)(void* args_of_this_minor);
  Error* (*state_get)(void* args_of_this_minor);
  NotUsed device_memory_allocate;
  NotUsed device_memory_free;
  Error* (*thread_pool_schedule)(ScheduleArgs*);
  Error* (*thread_pool_num_threads)(NumThreadsArgs*);
  NotUsed future_create;
  NotUsed future_set_available;
  NotUsed future_set_error;
  NotUsed run_id_get;
  Error* (*device_ordinal_get)(OrdinalGetArgs*);
};

struct CallFrame {
  size_t struct_size;
  Extension* extension;
  const Api* api;
  ExecutionContext* context;
  Stage stage;
  BufferList arguments;
  BufferList results;
  Attributes attributes;
  void* future;  // out; unused: we are done when we return
};

struct Metadata {
  size_t struct_size;
  ApiVersion api_version;
  uint32_t traits;
  TypeId state_type;  // only where struct_size reaches it
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

// Only fields in the oldest layout (0.1) of a struct may be read.
inline constexpr size_t kCallFrameSize = offsetof(CallFrame, attributes) + sizeof(Attributes);
inline constexpr size_t kApiSize = offsetof(Api, device_ordinal_get) + sizeof(Api::device_ordinal_get);
inline constexpr size_t kMetadataSize = offsetof(Metadata, state_type) + sizeof(TypeId);  // of the first that has it
static_assert(sizeof(CallFrame) == 176 && kCallFrameSize == 168 && kApiSize == 192 && kMetadataSize == 48);
static_assert(sizeof(Buffer) == 48 && sizeof(BufferList) == 40 && sizeof(Attributes) == 48);
static_assert(sizeof(StateSetArgsV1) == 48 && sizeof(StateArgsV2) == 40 && sizeof(StateArgsV3) == 48);

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_XLA_FFI_ABI_H_
