// Calls of the C API that every system answers with the same words: loads, calls, errors, storage, threads, files that are replaced,
// RECORD, locks. Prints what it gets. scripts/windows runs it on Linux and under Wine, and compares the outputs.
//
//   host MODULE OTHER    OTHER: the module, built with another factor
#include <kernpack/host/host.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

namespace {

#if defined(_WIN32)
const std::string kSuffix = ".dll";
void SetVariable(const char* name, const char* value) { _putenv_s(name, value); }
#else
const std::string kSuffix = ".so";
void SetVariable(const char* name, const char* value) { setenv(name, value, 1); }
#endif

int checks = 0;

// One line of the output. Paths have '/' in it, modules end with .so, and digests of files, which differ, are left out.
void Say(const std::string& name, std::string text) {
  ++checks;
  for (size_t at = 0; (at = text.find(kSuffix, at)) != std::string::npos; at += 3)
    text.replace(at, kSuffix.size(), ".so");
  for (char& c : text) c = c == '\\' ? '/' : c;
  const std::string digest = "the file has sha256=";
  if (const size_t at = text.find(digest); at != std::string::npos) text.erase(at + digest.size(), 43);
  std::printf("%s: %s\n", name.c_str(), text.c_str());
}

std::string Text(KpBytes bytes) { return {bytes.data, bytes.size}; }

std::string TakeError() {
  KpAny error = kp_none();
  kp_error_take("host", -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  const std::string text = Text(body->kind) + ": " + Text(body->message);
  kp_any_release(&error);
  return text;
}

// "name version", or the error.
std::string Load(const std::string& path, const KpLoadedModule** out = nullptr, uint32_t flags = KP_LOAD_DEFAULT) {
  const KpLoadedModule* module = nullptr;
  const char* paths[] = {path.c_str()};
  if (kp_module_load(paths, 1, flags, &module) != 0) return TakeError();
  if (out) *out = module;
  return std::string(kp_module_name(module)) + " " + kp_module_version(module);
}

KpAny Int(int64_t number) {
  KpAny value = kp_none();
  value.type_index = KP_TYPE_INT;
  value.v.v_int = number;
  return value;
}

std::string Describe(const KpAny& value) {
  KpBytes text{};
  if (kp_any_str(&value, &text)) return Text(text);
  if (value.type_index == KP_TYPE_INT || value.type_index == KP_TYPE_BOOL) return std::to_string(value.v.v_int);
  return value.type_index == KP_TYPE_NONE ? "None" : kp_type_name(value.type_index);
}

std::string Call(const KpLoadedModule* module, const char* name, const std::vector<KpAny>& args) {
  const KpLoadedFunction* function = kp_module_function(module, kp_bytes(name));
  KpAny result = kp_none();
  if (!function) return "no function";
  if (kp_call(function, args.data(), static_cast<int32_t>(args.size()), &result) != 0) return TakeError();
  const std::string text = Describe(result);
  kp_any_release(&result);
  return text;
}

// scale of 0, 1, 2, ...: the sum of the results, or the error.
std::string Scale(const KpLoadedModule* module, int64_t n, uint8_t bits = 32) {
  std::vector<float> from(static_cast<size_t>(n) * 2);
  std::vector<float> to(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) from[static_cast<size_t>(i)] = static_cast<float>(i % 100);
  KpDLTensor views[2] = {};
  for (KpDLTensor& view : views) {
    view.device.device_type = KP_DEVICE_CPU;
    view.ndim = 1;
    view.dtype = {KP_DTYPE_FLOAT, 32, 1};
    view.shape = &n;
  }
  views[0].data = from.data();
  views[0].dtype.bits = bits;
  views[1].data = to.data();
  std::vector<KpAny> args(2, kp_none());
  for (size_t i = 0; i < 2; ++i) {
    args[i].type_index = KP_TYPE_DLTENSOR_PTR;
    args[i].v.v_tensor = &views[i];
  }
  const std::string answer = Call(module, "scale", args);
  if (answer != "None") return answer;
  double sum = 0;
  for (const float value : to) sum += static_cast<double>(value);
  return std::to_string(static_cast<long long>(sum));
}

void Write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As RECORD has it, of hexadecimal digits.
std::string Base64(const std::string& hex) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string bits;
  std::string text;
  for (const char c : hex) {
    for (int bit = 3; bit >= 0; --bit)
      bits += static_cast<char>('0' + (std::stoi(std::string(1, c), nullptr, 16) >> bit & 1));
  }
  while (bits.size() % 6 != 0) bits += '0';
  for (size_t at = 0; at < bits.size(); at += 6) text += kDigits[std::stoi(bits.substr(at, 6), nullptr, 2)];
  return text;
}

void Calls(const KpLoadedModule* module) {
  for (int32_t i = 0; i < kp_module_function_count(module); ++i) {
    const KpLoadedFunction* function = kp_module_function_at(module, i);
    Say("function", std::string(function->name) + (function->doc ? std::string(" | ") + function->doc : ""));
  }
  Say("scale", Scale(module, 1000));
  Say("scale of a million, on 4 threads", (kp_set_num_threads(4), Scale(module, 1'000'000)));
  Say("scale, wrong dtype", Scale(module, 4, 64));
  Say("scale, no arguments", Call(module, "scale", {}));
  Say("scale, an int", Call(module, "scale", {Int(1)}));
  for (int64_t kind = 0; kind < 5; ++kind) Say("fail " + std::to_string(kind), Call(module, "fail", {Int(kind)}));
  Say("sum_to", Call(module, "sum_to", {Int(1'000'000)}));
  KpAny key = kp_none();
  if (kp_string_new(kp_bytes("a key"), &key) != 0) std::abort();
  for (int i = 0; i < 2; ++i) Say("storage", Call(module, "count", {key}));
  Say("storage, keys", Call(module, "keys", {}));
  Say("storage, erased", Call(module, "forget", {key}));
  kp_any_release(&key);
  for (int i = 0; i < 2; ++i) Say("workspace", Call(module, "ticks", {Int(64)}));
  std::thread([&] { Say("workspace, another thread", Call(module, "ticks", {Int(64)})); }).join();
  kp_checking_enter(0);
  Say("scale, checked", Scale(module, 1000));
  kp_checking_leave(0);
}

void Files(const fs::path& folder, const std::string& module, const std::string& other) {
  const auto at = [&](const char* name) { return folder / fs::u8path(name + kSuffix); };
  Say("no such file", Load("nowhere/k" + kSuffix));
  fs::create_directories(folder / "a_folder");
  Say("a folder", Load("work/a_folder"));
  Write(at("empty"), "");
  Say("an empty file", Load("work/empty" + kSuffix));
  const std::string content = ReadAll(module);
  const fs::path place = at("sp\u00e4ce \u65e5\u672c");
  Write(place, content);
  Say("Unicode and a space", Load("work/" + ("sp\u00e4ce \u65e5\u672c" + kSuffix)));
  const KpLoadedModule* first = nullptr;
  const KpLoadedModule* second = nullptr;
  Write(at("replaced"), content);
  Say("before it is replaced", Load("work/replaced" + kSuffix, &first));
  Write(at("replaced"), ReadAll(other));
  Say("after it was replaced", Load("work/replaced" + kSuffix, &second));
  Say("the old one", Scale(first, 1000));
  Say("the new one", Scale(second, 1000));
  for (const size_t size : {size_t{10}, size_t{100}, content.size() / 2, content.size() - 1000}) {
    Write(at("cut_off"), content.substr(0, size));
    const KpLoadedModule* none = nullptr;
    Load("work/cut_off" + kSuffix, &none);
    Say("cut off", none ? "loaded" : "refused");
  }
}

void Verified(const fs::path& folder, const std::string& module, const std::string& digest) {
  const std::string content = ReadAll(module);
  const fs::path package = folder / "site" / "kernels";
  const fs::path record = folder / "site" / "kernels-1.0.dist-info" / "RECORD";
  const std::string path = "work/site/kernels/ops" + kSuffix;
  const std::string line = "kernels/ops" + kSuffix + ",sha256=";
  Write(package / ("ops" + kSuffix), content);
  Write(record, line + Base64(digest) + ",100\n");
  Say("RECORD", Load(path));
  Write(record, line + std::string(43, 'A') + ",100\n");
  std::string refused = Load(path);
  Say("RECORD of another file", refused.substr(0, refused.find("; run ")));
  SetVariable("KERNPACK_VERIFY", "0");
  Say("RECORD, off", Load(path));
  SetVariable("KERNPACK_VERIFY", "always");
  Say("RECORD, a wrong word", Load(path));
  SetVariable("KERNPACK_VERIFY", "0");
  const std::string lock =
      R"({"kernpack_lock": 1, "wheels": [{"name": "kernels", "version": "1.0", "abi": 1, "files": )";
  Write(folder / "good.lock", lock + R"({"kernels/ops)" + kSuffix + R"(": "sha256=)" + Base64(digest) + "\"}}]}");
  Write(folder / "bad.lock", lock + R"({"kernels/ops)" + kSuffix + R"(": "sha256=)" + std::string(43, 'A') + "\"}}]}");
  for (const char* name : {"work/good.lock", "work/bad.lock", "work/none.lock"}) {
    SetVariable("KERNPACK_REQUIRE_LOCK", name);
    Say(name, Load(path));
  }
  SetVariable("KERNPACK_REQUIRE_LOCK", "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string module = argv[1];
  fs::remove_all("work");
  const KpLoadedModule* loaded = nullptr;
  Say("load", Load(module, &loaded));
  if (!loaded) return 1;
  const KpLoadedModule* again = nullptr;
  Load(module, &again);
  Say("loaded again", again == loaded ? "the same module" : "another module");
  Say("version", kp_version());
  Calls(loaded);
  Files("work", module, argv[2]);
  Verified("work", module, kp_module_digest(loaded));
  std::printf("%d lines\n", checks);
}
