#include "observe/check/scratch.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/fork.h"
#include "base/leaked.h"
#include "observe/check/call.h"
#include "observe/check/text.h"
#include "devices/memory.h"
#include "values/error/slot.h"
#include "values/object/object.h"
#include "devices/storage/table.h"
#include "devices/workspace/workspace.h"

namespace kernpack::host::check {
namespace {

// With which flags each workspace was asked for first.
struct AskedBefore {
  ForkMutex mutex{LockRank::kNames};
  std::unordered_map<StoredKey, uint32_t, KeyHash, KeyEqual> flags;
};

bool AskedOtherwise(const KeyView& key, uint32_t flags) {
  auto& asked = Leaked<AskedBefore>();
  const std::lock_guard lock(asked.mutex);
  const auto found = asked.flags.find(key);
  if (found == asked.flags.end()) {
    asked.flags.emplace(StoredKey(key), flags);
    return false;
  }
  return found->second != flags;
}

// The type that a kernel sees: short and long strings have one type.
int32_t GetType(const KpAny& value) {
  if (value.type_index == KP_TYPE_SMALL_STR || value.type_index == KP_TYPE_RAW_STR) return KP_TYPE_STR;
  if (value.type_index == KP_TYPE_SMALL_BYTES || value.type_index == KP_TYPE_BYTE_ARRAY_PTR) return KP_TYPE_BYTES;
  if (value.type_index == KP_TYPE_DLTENSOR_PTR) return KP_TYPE_TENSOR;
  return value.type_index;
}

// Of a pointer, alone or in a list, into what is lent by this call or by one that it was made from: the name of that; else "".
std::string OwnerOfStored(const KpAny& value, int depth = 0) {
  std::string owner;
  if (value.type_index == KP_TYPE_OPAQUE_PTR) {
    for (CheckedCall* call = CheckedCall::Current(); call && owner.empty(); call = call->outer()) {
      owner = call->FindOwner(value.v.v_ptr);
    }
  } else if ((value.type_index == KP_TYPE_ARRAY || value.type_index == KP_TYPE_LIST) && depth < kMostNested) {
    const auto* list = reinterpret_cast<const KpSequenceObject*>(value.v.v_obj);
    for (int64_t i = 0; i < list->size && owner.empty(); ++i) owner = OwnerOfStored(list->data[i], depth + 1);
  }
  return owner;
}

int Refuse(const KeyView& key, const std::string& text) {
  return Raise("CheckError", std::string(CheckedCall::Current()->function_name()) + ": storage key '" +
                                 std::string(key.key) + "' " + text);
}

}  // namespace

void* Scratch::One::data() const {
  if (on_cpu()) return block->data();
  return static_cast<char*>(image->handle()) + image->offset();  // of a handle, the offset is 0
}

// The newest that is large enough. On the CPU each thread has its own.
bool Scratch::FindHeld(const KeyView& key, uint64_t bytes, void** out_data) const {
  for (auto one = all_.rbegin(); one != all_.rend(); ++one) {
    if (!(one->key.view() == key) || one->block->bytes() < bytes) continue;
    if (one->on_cpu() && one->thread != std::this_thread::get_id()) continue;
    *out_data = one->data();
    return true;
  }
  return false;
}

bool Scratch::Find(const KeyView& key, uint64_t bytes, void** out_data) {
  const std::lock_guard lock(mutex_);
  return FindHeld(key, bytes, out_data);
}

// Fills new scratch memory. A zeroed workspace gets its kept content.
int Scratch::Fill(One* one, Turn turn) {
  char* data = one->block->data();
  const uint64_t bytes = one->block->bytes();
  if (!(one->flags & KP_WORKSPACE_ZEROED)) {
    FillMark(data, bytes, GetMark(Mark::kWorkspace, turn));
  } else {
    void* kept = nullptr;
    if (GetWorkspace(one->key.view(), bytes, one->flags, &kept) != 0) return -1;
    if (one->on_cpu()) {
      std::memcpy(data, kept, bytes);
    } else if (one->where->Fetch(kept, 0, data, bytes) != 0) {
      return -1;
    }
  }
  return one->on_cpu() ? 0 : one->image->Make(*one->block, /*from_data=*/!one->where->HasAddresses());
}

int Scratch::Get(CheckedCall* call, const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served) {
  const bool on_cpu = key.device.device_type == KP_DEVICE_CPU;
  const DeviceInUse* where = on_cpu ? nullptr : &call->devices().Use(key.device, key.stream, call->function_name());
  *served = on_cpu ? call->looks_at_memory() : where->api != nullptr;
  if (!*served) return 0;
  if (AskedOtherwise(key, flags)) {
    call->Find(std::string(call->function_name()) + ": workspace '" + std::string(key.key) +
               "' is requested both with and without kp::zeroed; use two keys");
  }
  if (Find(key, bytes, out_data)) return 0;
  // A call that was made from another one shares what is kept with it.
  for (CheckedCall* outer = call->outer(); outer && (flags & KP_WORKSPACE_ZEROED); outer = outer->outer()) {
    if (outer->scratch().Find(key, bytes, out_data)) return 0;
  }
  const unsigned tag = call->NextTag();
  One made{StoredKey(key),
           std::make_shared<Block>(bytes, 0, OutsidePattern(tag, kUntyped, /*is_input=*/false, call->turn())),
           nullptr,
           where,
           flags,
           std::this_thread::get_id(),
           tag};
  if (!on_cpu) made.image = std::make_shared<DeviceImage>(*where);
  // Without the lock, since a framework's allocator may wait for a thread that asks for a workspace too.
  if (Fill(&made, call->turn()) != 0) return -1;
  const std::lock_guard lock(mutex_);
  if (FindHeld(key, bytes, out_data)) return 0;  // of a device: another thread of the call was faster
  all_.push_back(std::move(made));
  *out_data = all_.back().data();
  return 0;
}

int Scratch::Fetch() const {
  for (const One& one : all_) {
    if (!one.on_cpu() && one.image->Fetch(*one.block) != 0) return -1;
  }
  return 0;
}

void Scratch::Look(const std::string& function, Findings* findings) const {
  for (const One& one : all_) {
    const Block::Damage damage = one.block->Look();
    const auto say = [&](const char* where, const Block::Reach& reach, const char* from, const char* remedy) {
      if (reach.farthest == 0) return;
      std::string text = function;
      text.append(": ").append(GetName(one)).append(": memory ").append(where).append(" was written, ");
      text.append(ReachText(reach, 1, "byte")).append(from).append(" of the ");
      text.append(std::to_string(one.block->bytes())).append(" that were asked for; ").append(remedy);
      findings->push_back(std::move(text));
    };
    say("past its end", damage.past, " past the last one", "ask for more");
    say("before its start", damage.before, " before the first one", "check the indices");
  }
}

// Where it is kept is asked for anew: a call made by this one may have let it grow.
void Scratch::GiveBack() {
  const std::lock_guard lock(mutex_);
  for (const One& one : all_) {
    if (!(one.flags & KP_WORKSPACE_ZEROED)) continue;
    if (one.on_cpu() ? one.thread != std::this_thread::get_id() : !OnFirstThread()) continue;
    const ErrorKeeper keeper;
    void* kept = nullptr;
    if (GetWorkspace(one.key.view(), one.block->bytes(), one.flags, &kept) != 0) continue;
    if (one.on_cpu()) {
      std::memcpy(kept, one.block->data(), one.block->bytes());
    } else {
      one.where->Send(one.block->data(), kept, 0, one.block->bytes());
    }
  }
}

void Scratch::Keep(const std::string& function) const {
  for (const One& one : all_) {
    if (one.on_cpu()) KeepForAWhile(one.block, function, GetName(one));
  }
}

std::string Scratch::FindOwner(const void* address) {
  const std::lock_guard lock(mutex_);
  for (const One& one : all_) {
    if (one.on_cpu() ? one.block->Holds(address) : one.image->Holds(address)) return GetName(one);
  }
  return "";
}

std::string Scratch::OwnerOfTag(unsigned tag) {
  const std::lock_guard lock(mutex_);
  for (const One& one : all_) {
    if (one.tag == tag) return GetName(one);
  }
  return "";
}

int GetChecked(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served) {
  CheckedCall* call = CheckedCall::Current();
  *served = false;
  return call == nullptr ? 0 : call->scratch().Get(call, key, bytes, flags, out_data, served);
}

int LookAtStored(const KeyView& key, const KpAny& value) {
  if (!CheckedCall::Current()) return 0;
  const std::string owner = OwnerOfStored(value);
  if (!owner.empty()) {
    return Refuse(key, "is given a pointer into " + owner +
                           ", which is lent for the call only; store the Tensor, or a copy of what it holds");
  }
  OwnedAny old;
  if (!StorageTable::Get().Find(key, old.out())) return 0;
  const int32_t was = GetType(old.get());
  const int32_t is = GetType(value);
  if (was == is || was == KP_TYPE_NONE || is == KP_TYPE_NONE) return 0;
  return Refuse(key, std::string("holds ") + kp_type_name(was) + " and is given " + kp_type_name(is) +
                         ": its next reader gets a TypeError; keep one type per key, or erase it first");
}

}  // namespace kernpack::host::check
