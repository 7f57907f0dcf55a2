// Our declarations of XLA's structs against the header that jaxlib ships. Compiled, never run.
#include "xla/ffi/api/c_api.h"
#include "guests/xla/xla_ffi_abi.h"

namespace ours = kernpack::xla;

#define SAME(our_type, our_field, their_type, their_field)                                  \
  static_assert(offsetof(ours::our_type, our_field) == offsetof(their_type, their_field) && \
                sizeof(ours::our_type::our_field) == sizeof(their_type::their_field))

SAME(Api, version, XLA_FFI_Api, api_version);
SAME(Api, error_create, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME(Api, error_destroy, XLA_FFI_Api, XLA_FFI_Error_Destroy);
SAME(Api, stream_get, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME(Api, state_set, XLA_FFI_Api, XLA_FFI_State_Set);
SAME(Api, state_get, XLA_FFI_Api, XLA_FFI_State_Get);
SAME(Api, thread_pool_schedule, XLA_FFI_Api, XLA_FFI_ThreadPool_Schedule);
SAME(Api, thread_pool_num_threads, XLA_FFI_Api, XLA_FFI_ThreadPool_NumThreads);
SAME(Api, device_ordinal_get, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
SAME(CallFrame, api, XLA_FFI_CallFrame, api);
SAME(CallFrame, context, XLA_FFI_CallFrame, ctx);
SAME(CallFrame, arguments, XLA_FFI_CallFrame, args);
SAME(CallFrame, results, XLA_FFI_CallFrame, rets);
SAME(CallFrame, attributes, XLA_FFI_CallFrame, attrs);
SAME(Buffer, data, XLA_FFI_Buffer, data);
SAME(Buffer, dims, XLA_FFI_Buffer, dims);
SAME(BufferList, items, XLA_FFI_Args, args);
SAME(Attributes, values, XLA_FFI_Attrs, attrs);
SAME(Scalar, value, XLA_FFI_Scalar, value);
SAME(Array, data, XLA_FFI_Array, data);
SAME(Metadata, traits, XLA_FFI_Metadata, traits);
SAME(ErrorCreateArgs, code, XLA_FFI_Error_Create_Args, errc);
SAME(StreamGetArgs, stream, XLA_FFI_Stream_Get_Args, stream);
SAME(OrdinalGetArgs, ordinal, XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);
SAME(ScheduleArgs, data, XLA_FFI_ThreadPool_Schedule_Args, data);
SAME(NumThreadsArgs, count, XLA_FFI_ThreadPool_NumThreads_Args, num_threads);

static_assert(ours::kCallFrameSize <= XLA_FFI_CallFrame_STRUCT_SIZE);
static_assert(sizeof(ours::Api) <= XLA_FFI_Api_STRUCT_SIZE);
static_assert(static_cast<int>(ours::DataType::kF8E8M0Fnu) == XLA_FFI_DataType_F8E8M0FNU);
static_assert(static_cast<int>(ours::DataType::kBf16) == XLA_FFI_DataType_BF16);
static_assert(static_cast<int>(ours::DataType::kS4) == XLA_FFI_DataType_S4);
static_assert(ours::kApiMajor == XLA_FFI_API_MAJOR);
