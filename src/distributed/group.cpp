#include "group_state.hpp"

#include <coir/core/errors.hpp>
#include <coir/distributed/connections.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/longest_piece.hpp>
#include <coir/distributed/together.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::distributed {

namespace {
std::atomic<std::int64_t> longest = std::int64_t(1) << 30;
std::atomic<std::int64_t> connections = 0, allocations = 0;
}  // namespace

void detail::count_connection() { ++connections; }
std::int64_t connections_opened() { return connections; }
void detail::count_memory() { ++allocations; }
std::int64_t memory_opened() { return allocations; }

std::int64_t longest_piece() { return longest; }
void set_longest_piece(std::int64_t bytes) { longest = bytes; }

std::string_view name_of(Transport transport) {
  constexpr std::array<std::string_view, 5> names{"none", "mpi", "staged", "nccl", "peer"};
  return names[static_cast<std::size_t>(transport)];
}

Exchange::Exchange(std::unique_ptr<detail::UnderWay> under_way)
    : under_way_(std::move(under_way)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

void Exchange::finish() {
  if (!under_way_) return;
  auto const under_way = std::move(under_way_);
  under_way->finish();
}

Group::Group() : state_(std::make_shared<detail::GroupState>()) {}

int Group::rank() const { return state_->rank(); }
int Group::size() const { return state_->size(); }
double Group::exchange_seconds() const { return state_->seconds; }

Group Group::split(int part, int order) const {
  together(*this,
           [&] { expects(part >= 0, "the number of a part of a group must be at least 0", part); });
  auto state = std::make_shared<detail::GroupState>();
  state->whole = state_;
  if (state_->engine) {
    auto engine = state_->engine->split(part, order);
    if (engine->size() > 1) state->engine = std::move(engine);
  }
  // Ranks of a part may have a device each even if ranks of the whole group share devices. NCCL
  // needs a connection of its own for the part.
  auto const keep = [&](std::optional<detail::Choice> const& chosen) {
    bool const keeps = state->engine && chosen && chosen->transport != Transport::nccl;
    return keeps ? chosen : std::nullopt;
  };
  state->on_host = keep(state_->on_host);
  state->on_device = keep(state_->on_device);
  return Group(std::move(state));
}

void Group::gather_bytes(void const* value, void* all, std::int64_t bytes) const {
  if (state_->engine)
    state_->engine->gather(value, all, bytes);
  else if (bytes > 0)
    std::memcpy(all, value, static_cast<std::size_t>(bytes));
}

void Group::all_to_all_bytes(void const* values, std::int64_t count, void* all,
                             std::int64_t bytes) const {
  expects(count == size(),
          "ranks swap a value for each of them, " + std::to_string(size()) + " in this group",
          count);
  if (state_->engine)
    state_->engine->all_to_all(values, all, bytes);
  else
    std::memcpy(all, values, static_cast<std::size_t>(bytes));
}

std::vector<std::string> Group::gather(std::string const& text) const {
  auto const lengths = gather(text.size());
  auto const all = gather_all(std::span<char const>(text));
  std::vector<std::string> texts;
  auto from = all.begin();
  for (std::size_t const length : lengths) {
    auto const end = from + static_cast<std::ptrdiff_t>(length);
    texts.emplace_back(from, end);
    from = end;
  }
  return texts;
}

std::int64_t Group::total_bytes(std::int64_t bytes) const { return sum(bytes); }

void Group::gather_all_bytes(void const* values, std::int64_t bytes, void* all) const {
  if (state_->engine)
    state_->engine->gather_all(values, all, gather(bytes));
  else if (bytes > 0)
    std::memcpy(all, values, static_cast<std::size_t>(bytes));
}

void Group::broadcast(void* data, std::int64_t bytes, int from) const {
  expects(from >= 0 && from < size(), "a broadcast must come from a rank of the group", from);
  if (state_->engine && bytes > 0) state_->engine->broadcast(data, bytes, from);
}

std::string Group::broadcast(std::string const& text, int from) const {
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(&length, sizeof length, from);
  std::string result = rank() == from ? text : std::string(static_cast<std::size_t>(length), ' ');
  broadcast(result.data(), length, from);
  return result;
}

void Group::barrier() const {
  if (state_->engine) state_->engine->barrier();
}

Traffic Group::traffic(std::string_view purpose) const {
  auto const found = state_->traffic.find(purpose);
  return found == state_->traffic.end() ? Traffic{} : found->second;
}

Traffic Group::traffic() const {
  Traffic all;
  for (auto const& [purpose, one] : state_->traffic) {
    all.messages += one.messages;
    all.bytes += one.bytes;
  }
  return all;
}

std::map<std::string, Traffic, std::less<>> const& Group::traffic_by_purpose() const {
  return state_->traffic;
}

}  // namespace coir::distributed
