#include "driver/launch_order.h"

#include <algorithm>
#include <utility>

#include "driver/machine.h"
#include "exec/global_races.h"

namespace kernpack::cuda {
namespace {

constexpr size_t kRemembered = 64;  // launches of a stream; older ones count as ordered
constexpr size_t kManyStreams = 64;

struct HostOrder {
  std::shared_ptr<const Awaited> awaited = std::make_shared<Awaited>();
  uint64_t streams = 0;
  uint32_t launches = 0;
  StreamOpaque* running = nullptr;
  emulator::Launch touching;  // of copies: their number and order
  std::string race;
};

HostOrder& Order() {
  static HostOrder* const order = new HostOrder();
  return *order;
}

void Advance(Awaited* awaited, uint64_t stream, uint64_t sequence) {
  uint64_t& until = (*awaited)[stream];
  until = std::max(until, sequence);
}

void Merge(Awaited* awaited, const Awaited& more) {
  for (const auto& [stream, sequence] : more) Advance(awaited, stream, sequence);
}

StreamOrder& OrderOf(StreamOpaque* stream) {
  if (stream->order.number == 0) stream->order.number = ++Order().streams;
  return stream->order;
}

template <class F>
void ForStreams(F f) {
  for (const auto& context : Machine::Get().contexts) {
    f(context->legacy.get());
    for (const StreamRef& stream : context->streams) f(stream.get());
  }
}

}  // namespace

std::shared_ptr<const Awaited> HostAwaited() { return Order().awaited; }

void HostWaited(const StreamOpaque& stream, uint64_t sequence) {
  const StreamOrder& order = stream.order;
  if (order.number == 0) return;
  const auto found = Order().awaited->find(order.number);
  if (found != Order().awaited->end() && found->second >= sequence) return;
  auto made = std::make_shared<Awaited>(*Order().awaited);
  Merge(made.get(), order.after);
  Advance(made.get(), order.number, sequence);
  if (made->size() > kManyStreams) {  // those that are gone matter no more
    std::vector<uint64_t> live;
    ForStreams([&](StreamOpaque* one) { live.push_back(one->order.number); });
    std::erase_if(*made,
                  [&](const auto& entry) { return std::find(live.begin(), live.end(), entry.first) == live.end(); });
  }
  Order().awaited = std::move(made);
}

void BeginWork(StreamOpaque* stream, const Work& work) {
  StreamOrder& order = OrderOf(stream);
  order.running = work.sequence;
  Merge(&order.after, *work.awaited);
  for (const Point& point : work.after) {
    const StreamOrder& other = OrderOf(point.stream.get());
    if (point.stream.get() == stream) continue;
    Merge(&order.after, other.after);
    Advance(&order.after, other.number, point.sequence);
  }
  Order().running = stream;
  Order().touching.number = 0;
}

void TouchMemory(const emulator::Region& region, uint64_t address, uint64_t bytes, bool writes) {
  HostOrder& order = Order();
  // A program with one stream has its copies in order.
  if (region.sectors == nullptr || order.running == nullptr || order.streams < 2 || !order.race.empty()) return;
  if (order.touching.number == 0) OrderLaunch(nullptr, &order.touching);
  order.race = TouchByDriver(order.touching, region, address, bytes, writes);
}

std::string EndWork() {
  Order().running = nullptr;
  return std::exchange(Order().race, "");
}

void OrderLaunch(std::shared_ptr<const emulator::Program> program, emulator::Launch* launch) {
  StreamOpaque* const own = Order().running;
  StreamOrder& order = OrderOf(own);
  launch->number = ++Order().launches;
  launch->unordered.clear();
  ForStreams([&](StreamOpaque* stream) {
    if (stream == own) return;
    const auto found = order.after.find(stream->order.number);
    const uint64_t until = found == order.after.end() ? 0 : found->second;
    const std::deque<StreamOrder::Launched>& launches = stream->order.launches;
    for (auto other = launches.rbegin(); other != launches.rend() && other->sequence > until; ++other)
      launch->unordered.push_back(other->launch);
  });
  order.launches.push_back({order.running, {launch->number, std::move(program)}});
  if (order.launches.size() > kRemembered) order.launches.pop_front();
}

void ForgetOrder() {
  Order().awaited = std::make_shared<Awaited>();
  Order().running = nullptr;
}

}  // namespace kernpack::cuda
