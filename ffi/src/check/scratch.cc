#include "check/scratch.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/fork.h"
#include "base/leaked.h"
#include "check/call.h"
#include "error/slot.h"
#include "object/object.h"
#include "storage/table.h"
#include "workspace/workspace.h"

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

// What a kernel reads a value as: short and long strings are the same to it.
int32_t TypeOf(const KpAny& value) {
  if (value.type_index == KP_TYPE_SMALL_STR || value.type_index == KP_TYPE_RAW_STR) return KP_TYPE_STR;
  if (value.type_index == KP_TYPE_SMALL_BYTES || value.type_index == KP_TYPE_BYTE_ARRAY_PTR) return KP_TYPE_BYTES;
  if (value.type_index == KP_TYPE_DLTENSOR_PTR) return KP_TYPE_TENSOR;
  return value.type_index;
}

int Refuse(const KeyView& key, const std::string& text) {
  return Raise("CheckError", std::string(CheckedCall::Current()->function_name()) + ": storage key '" +
                                 std::string(key.key) + "' " + text);
}

}  // namespace

int Scratch::Get(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served,
                 const char* function, Turn turn, Findings* findings) {
  const std::lock_guard lock(mutex_);
  const auto thread = std::this_thread::get_id();
  *served = true;
  if (AskedOtherwise(key, flags)) {
    findings->push_back(
        std::string(function) + ": workspace '" + std::string(key.key) +
        "': is asked for both with kp::zeroed and without it: whoever comes first decides whether it is "
        "zeroed, and what the other leaves in it is met; use two keys");
  }
  for (auto one = all_.rbegin(); one != all_.rend(); ++one) {
    if (one->thread != thread || !(one->key.view() == key) || one->block->bytes() < bytes) continue;
    *out_data = one->block->data();
    return 0;
  }
  // What another thread keeps zeroed only that thread could put back.
  if ((flags & KP_WORKSPACE_ZEROED) && thread != first_) {
    *served = false;
    return 0;
  }
  One made{StoredKey(key), std::make_shared<Block>(bytes, 0, turn), flags, thread};
  if (flags & KP_WORKSPACE_ZEROED) {
    void* kept = nullptr;
    if (GetWorkspace(key, bytes, flags, &kept) != 0) return -1;
    std::memcpy(made.block->data(), kept, bytes);
  } else {
    FillMark(made.block->data(), bytes, turn == Turn::kFirst ? Mark::kWorkspace : Mark::kWorkspaceAgain);
  }
  *out_data = made.block->data();
  all_.push_back(std::move(made));
  return 0;
}

void Scratch::Look(const std::string& function, Findings* findings) const {
  for (const One& one : all_) {
    const Block::Damage damage = one.block->Look();
    const auto say = [&](const char* where, uint64_t bytes, const char* from, const char* remedy) {
      std::string text = function;
      text.append(": ").append(NameOf(one)).append(": memory ").append(where).append(" was written, ");
      text.append(std::to_string(bytes)).append(" bytes ").append(from).append(" of the ");
      text.append(std::to_string(one.block->bytes())).append(" that were asked for; ").append(remedy);
      findings->push_back(std::move(text));
    };
    if (damage.past != UINT64_MAX) say("past its end", damage.past, "behind the last one", "ask for more");
    if (damage.before) say("before its start", damage.before, "in front of the first one", "check the indices");
  }
}

// Zeroed ones go back to where they are kept. That is asked for anew: a call made by this one may have let it grow.
void Scratch::GiveBack() const {
  for (const One& one : all_) {
    void* kept = nullptr;
    if (!(one.flags & KP_WORKSPACE_ZEROED)) continue;
    if (GetWorkspace(one.key.view(), one.block->bytes(), one.flags, &kept) == 0) {
      std::memcpy(kept, one.block->data(), one.block->bytes());
    }
  }
}

int GetChecked(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served) {
  CheckedCall* call = CheckedCall::Current();
  *served = false;
  if (call == nullptr || key.device.device_type != KP_DEVICE_CPU) return 0;
  return call->scratch().Get(key, bytes, flags, out_data, served, call->function_name(), call->turn(),
                             call->findings());
}

int LookAtStored(const KeyView& key, const KpAny& value) {
  const CheckedCall* call = CheckedCall::Current();
  if (!call) return 0;
  const std::string* owner = value.type_index == KP_TYPE_OPAQUE_PTR ? call->OwnerOf(value.v.v_ptr) : nullptr;
  if (owner) {
    return Refuse(key, "is given a pointer into " + *owner +
                           ", which is lent for the call only; store the Tensor, or a copy of what it holds");
  }
  OwnedAny old;
  if (!StorageTable::Get().Find(key, old.out())) return 0;
  const int32_t was = TypeOf(old.get());
  const int32_t is = TypeOf(value);
  if (was == is || was == KP_TYPE_NONE || is == KP_TYPE_NONE) return 0;
  return Refuse(key, std::string("holds ") + kp_type_name(was) + " and is given " + kp_type_name(is) +
                         ": who reads it next gets a TypeError; keep one type under a key, or erase it first");
}

}  // namespace kernpack::host::check
