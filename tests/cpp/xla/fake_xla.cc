#include "fake_xla.h"

#include <array>
#include <cstring>

namespace kernpack::xla {
namespace {

void (*g_registered_deleter)(void*) = nullptr;

Error* Create(ErrorCreateArgs* args) { return new Error{args->message, args->code}; }
void Message(ErrorMessageArgs* args) { args->message = args->error->message.c_str(); }
void Destroy(ErrorDestroyArgs* args) { delete args->error; }

Error* RegisterType(TypeRegisterArgs* args) {
  args->id->value = 7;
  if (args->struct_size >= sizeof(TypeRegisterArgs)) g_registered_deleter = args->info->deleter;
  return nullptr;
}

Error* NoStream(StreamGetArgs*) { return new Error{"no stream on CPU", ErrorCode::kUnimplemented}; }
Error* Ordinal(OrdinalGetArgs* args) {
  args->ordinal = 0;
  return nullptr;
}

Error* Schedule(ScheduleArgs* args) {
  FakeXla& runtime = *args->context->runtime;
  if (!runtime.schedule) return new Error{"no pool", ErrorCode::kUnimplemented};
  runtime.schedule(args->task, args->data);
  return nullptr;
}

Error* NumThreads(NumThreadsArgs* args) {
  *args->count = args->context->runtime->width;
  return nullptr;
}

// One state slot, in the layouts of each minor.
struct Slot {
  void* state = nullptr;
  void (*deleter)(void*) = nullptr;
};
Slot g_slot;

Error* SetV1(void* raw) {
  auto* args = static_cast<StateSetArgsV1*>(raw);
  g_slot = {args->state, args->deleter};
  return nullptr;
}
Error* SetV2(void* raw) {
  auto* args = static_cast<StateArgsV2*>(raw);
  g_slot = {args->state, g_registered_deleter};
  return nullptr;
}
Error* SetV3(void* raw) {
  auto* args = static_cast<StateArgsV3*>(raw);
  if (args->stage != Stage::kInstantiate) return new Error{"wrong stage", ErrorCode::kInternal};
  g_slot = {args->state, g_registered_deleter};
  return nullptr;
}
Error* GetV2(void* raw) {
  static_cast<StateArgsV2*>(raw)->state = g_slot.state;
  return nullptr;
}
Error* GetV3(void* raw) {
  static_cast<StateArgsV3*>(raw)->state = g_slot.state;
  return nullptr;
}

Api MakeTable(int32_t minor) {
  Api api{};
  api.struct_size = sizeof(Api);
  api.version = {sizeof(ApiVersion), nullptr, kApiMajor, minor};
  api.error_create = Create;
  api.error_message = Message;
  api.error_destroy = Destroy;
  api.stream_get = NoStream;
  api.type_register = RegisterType;
  api.state_set = minor >= 3 ? SetV3 : minor == 2 ? SetV2 : SetV1;
  api.state_get = minor >= 3 ? GetV3 : GetV2;
  api.thread_pool_schedule = Schedule;
  api.thread_pool_num_threads = NumThreads;
  api.device_ordinal_get = Ordinal;
  return api;
}

// One for each minor, for as long as the process: handlers remember runtimes by their table's address.
Api& GetTable(int32_t minor) {
  static std::array<Api, 10> tables = [] {
    std::array<Api, 10> made{};
    for (size_t i = 0; i < made.size(); ++i) made[i] = MakeTable(static_cast<int32_t>(i));
    return made;
  }();
  return tables.at(static_cast<size_t>(minor));
}

}  // namespace

FakeXla::FakeXla(int32_t minor) : api(GetTable(minor)) {}

FakeXla::~FakeXla() {
  if (state_) delete_state_(state_);
}

FakeXla& FakeXla::Add(const std::string& name, AttributeType type, std::shared_ptr<void> value) {
  attributes_[name] = {type, std::move(value)};
  return *this;
}

std::shared_ptr<Span> FakeXla::NewSpan(const std::string& text) {
  const std::string& kept = texts_.emplace_back(text);
  return std::make_shared<Span>(Span{kept.data(), kept.size()});
}

FakeXla& FakeXla::Text(const std::string& name, const std::string& value) {
  return Add(name, AttributeType::kString, NewSpan(value));
}

FakeXla& FakeXla::Number(const std::string& name, DataType dtype, const void* value, size_t size) {
  std::string& kept = texts_.emplace_back(16, '\0');
  std::memcpy(kept.data(), value, size);
  return Add(name, AttributeType::kScalar, std::make_shared<Scalar>(Scalar{dtype, kept.data()}));
}

FakeXla& FakeXla::Ints(const std::string& name, std::vector<int64_t> values) {
  std::vector<int64_t>& kept = dims_.emplace_back(std::move(values));
  return Add(name, AttributeType::kArray, std::make_shared<Array>(Array{DataType::kS64, kept.size(), kept.data()}));
}

FakeXla& FakeXla::Texts(const std::string& name, const std::vector<std::string>& values) {
  std::map<std::string, Named> items;
  for (size_t i = 0; i < values.size(); ++i) {
    items["i" + std::to_string(i)] = {AttributeType::kString, NewSpan(values[i])};
  }
  auto inner = std::make_shared<std::pair<std::map<std::string, Named>, Dictionary>>(std::move(items), Dictionary{});
  Fill(inner->first, &inner->second);
  return Add(name, AttributeType::kDictionary, std::shared_ptr<void>(inner, &inner->second.attributes));
}

void FakeXla::Fill(const std::map<std::string, Named>& from, Dictionary* out) {
  *out = {};
  out->spans.reserve(from.size());
  for (const auto& [name, named] : from) {
    out->spans.push_back({name.data(), name.size()});
    out->names.push_back(&out->spans.back());
    out->types.push_back(named.type);
    out->values.push_back(named.value.get());
  }
  out->attributes = {sizeof(Attributes), nullptr,           static_cast<int64_t>(from.size()),
                     out->types.data(),  out->names.data(), out->values.data()};
}

void FakeXla::AddBuffer(std::vector<void*>* list, DataType dtype, void* data, std::vector<int64_t> dims) {
  std::vector<int64_t>& kept = dims_.emplace_back(std::move(dims));
  Buffer& buffer = buffers_.emplace_back(
      Buffer{sizeof(Buffer), nullptr, dtype, data, static_cast<int64_t>(kept.size()), kept.data()});
  list->push_back(&buffer);
}

FakeXla& FakeXla::Argument(DataType dtype, void* data, std::vector<int64_t> dims) {
  AddBuffer(&arguments_, dtype, data, std::move(dims));
  return *this;
}

FakeXla& FakeXla::Result(DataType dtype, void* data, std::vector<int64_t> dims) {
  AddBuffer(&results_, dtype, data, std::move(dims));
  return *this;
}

void FakeXla::ClearBuffers() {
  arguments_.clear();
  results_.clear();
}

CallFrame FakeXla::Frame(Stage stage) {
  Fill(attributes_, &dictionary_);
  types_.assign(arguments_.size() + results_.size(), kBufferArgument);
  CallFrame frame{};
  frame.struct_size = frame_size;
  frame.api = &api;
  frame.context = &context_;
  frame.stage = stage;
  frame.attributes = dictionary_.attributes;
  frame.arguments = {sizeof(BufferList), nullptr, 0, nullptr, nullptr};
  frame.results = frame.arguments;
  if (stage == Stage::kInstantiate) return frame;  // XLA shows no buffers then
  frame.arguments.size = static_cast<int64_t>(arguments_.size());
  frame.arguments.types = types_.data();
  frame.arguments.items = arguments_.data();
  frame.results.size = static_cast<int64_t>(results_.size());
  frame.results.types = types_.data();
  frame.results.items = results_.data();
  return frame;
}

std::string FakeXla::Finish(void* error) {
  if (!error) return "";
  const std::unique_ptr<Error> owned(static_cast<Error*>(error));
  last_code = owned->code;
  return owned->message;
}

std::string FakeXla::Instantiate() {
  if (state_) delete_state_(state_);
  g_slot = {};
  CallFrame frame = Frame(Stage::kInstantiate);
  const std::string error = Finish(kp_xla_ffi_instantiate(&frame));
  state_ = g_slot.state;
  delete_state_ = g_slot.deleter;
  return error;
}

CallFrame FakeXla::ExecuteFrame() {
  g_slot = {state_, delete_state_};
  return Frame(Stage::kExecute);
}

std::string FakeXla::Execute() {
  CallFrame frame = ExecuteFrame();
  return Finish(kp_xla_ffi_execute_cpu(&frame));
}

int32_t FakeXla::Probe(void* (*handler)(void*)) {
  Metadata metadata{sizeof(Metadata), {sizeof(ApiVersion), nullptr, -1, -1}, 99, {0}};
  MetadataExtension extension{{sizeof(MetadataExtension), kMetadataExtension, nullptr}, &metadata};
  Extension unknown{sizeof(Extension), 77, &extension.base};
  CallFrame frame{};
  frame.struct_size = frame_size;
  frame.api = &api;
  frame.extension = &unknown;
  return handler(&frame) ? -1 : metadata.api_version.major * 100 + metadata.api_version.minor;
}

}  // namespace kernpack::xla
