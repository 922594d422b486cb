#pragma once

#include "choose.hpp"
#include "group_state.hpp"
#include "matching.hpp"
#include "nccl.hpp"
#include "peer.hpp"
#include "pieces.hpp"
#include "staged.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/machine.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/longest_piece.hpp>
#include <coir/distributed/together.hpp>

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace coir::distributed {

namespace detail {

/// Marks a group for as long as its exchange lasts.
class Counted : public UnderWay {
 public:
  Counted(std::shared_ptr<GroupState> state, std::unique_ptr<UnderWay> inner)
      : state_(std::move(state)), inner_(std::move(inner)) {
    ++state_->under_way;
  }
  ~Counted() override { --state_->under_way; }
  void finish() override {
    AddSeconds const timed(*state_);
    if (inner_) inner_->finish();
  }

 private:
  std::shared_ptr<GroupState> state_;
  std::unique_ptr<UnderWay> inner_;
};

/// Whether 1 MiB that each rank sends to the next one by NCCL arrives unchanged.
template <class Exec>
bool passes_probe(Group const& group, std::shared_ptr<void> const& connection) {
  constexpr std::int64_t bytes = 1 << 20;
  using Numbers = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, typename Exec::memory_space>;
  constexpr std::size_t count = bytes / sizeof(std::int64_t);
  Exec const exec;
  Numbers const sent("coir::distributed::exchange/probe_sent", count),
      came("coir::distributed::exchange/probe", count);
  int const ranks = group.size(), rank = group.rank(), from = (rank + ranks - 1) % ranks;
  auto const on_host = Kokkos::create_mirror_view(sent);
  for (std::size_t n = 0; n < count; ++n) on_host(n) = static_cast<std::int64_t>(n) * ranks + rank;
  copy_contiguous(exec, sent, on_host);
  Pieces pieces;
  pieces.sends.push_back(Send{(rank + 1) % ranks, sent.data(), bytes});
  pieces.receives.push_back(Receive{from, came.data(), bytes});
  begin_by_nccl(connection, exec, pieces)->finish();
  copy_contiguous(exec, on_host, came);
  exec.fence();
  for (std::size_t n = 0; n < count; ++n)
    if (on_host(n) != static_cast<std::int64_t>(n) * ranks + from) return false;
  return true;
}

/// Connects a group by the transport of a choice, and tries it.
///
/// \return  why it fails on this rank or another one; empty if it works
template <class Exec>
std::string why_not_connected(GroupState& state, Transport transport) {
  Group const group = borrowed(state);
  std::string problem;
  try {
    if (transport == Transport::peer) {
      state.peer = connect_by_peer(group);
    } else {
      state.nccl = connect_by_nccl(group);
      if (!passes_probe<Exec>(group, state.nccl))
        problem = "a probe of 1 MiB did not arrive as it was sent";
    }
  } catch (EnvironmentError const& error) {
    problem = error.what();
  }
  if (group.all(problem.empty())) return {};
  (transport == Transport::nccl ? state.nccl : state.peer) = nullptr;
  return problem.empty() ? "another rank's connection fails" : problem;
}

template <class Exec>
Choice choose(GroupState& state) {
  if constexpr (runs_on_host<Exec>) {
    return choose_on_host(state);
  } else {
    Place const place{device_identity(Exec()), machine_identity(), why_no_nccl};
    std::set<Transport> failed;
    // It was tried on NVIDIA's devices alone.
    if (!devices_have_cuda) failed.insert(Transport::peer);
    Choice choice = choose_on_device(state, place, failed);
    std::string problems;
    while (choice.transport == Transport::peer || choice.transport == Transport::nccl) {
      std::string const problem = why_not_connected<Exec>(state, choice.transport);
      if (problem.empty()) break;
      if (choice.is_asked_for)
        throw EnvironmentError("the transport " + std::string(name_of(choice.transport)) +
                               ", which COIR_TRANSPORT asks for, fails: " + problem);
      failed.insert(choice.transport);
      problems += problem + ", and ";
      choice = choose_on_device(state, place, failed);
      choice.reason = problems + choice.reason;
    }
    return choice;
  }
}

template <class Exec>
Choice const& choice_of(GroupState& state) {
  auto& choice = runs_on_host<Exec> ? state.on_host : state.on_device;
  if (!choice) {
    choice = choose<Exec>(state);
    choice->checked = state.engine && wants_checks(borrowed(state));
  }
  return *choice;
}

}  // namespace detail

template <CompiledSpace Exec>
Transport Group::transport() const {
  return detail::choice_of<Exec>(*state_).transport;
}

template <CompiledSpace Exec>
std::string Group::why_transport() const {
  return detail::choice_of<Exec>(*state_).reason;
}

template <CompiledSpace Exec>
Exchange Group::begin(Exec const& exec, std::string_view purpose, std::span<Send const> sends,
                      std::span<Receive const> receives) const {
  using Memory = typename Exec::memory_space;
  if (state_->engine) state_->engine->expects_alive();
  auto const& choice = detail::choice_of<Exec>(*state_);
  Transport const transport = choice.transport;
  bool const by_peer = transport == Transport::peer;
  expects(state_->under_way == 0 || by_peer,
          "an exchange of this group is under way: finish it before the next one begins");
  std::int64_t const longest = by_peer                          ? 0
                               : transport == Transport::staged ? detail::staged_part(size())
                                                                : longest_piece();
  auto const prepare = [&] { return detail::pieces_of(rank(), size(), longest, sends, receives); };
  detail::Pieces const pieces = choice.checked ? together(*this, prepare) : prepare();
  if (choice.checked) detail::expects_matching(*this, purpose, sends, receives);

  Traffic sent;
  for (Send const& send : sends) {
    if (send.to == rank() || send.bytes == 0) continue;
    sent.messages += by_peer ? 1 : send.runs;
    sent.bytes += send.bytes * send.runs;
  }
  for (auto* group = state_.get(); group != nullptr; group = group->whole.get()) {
    auto found = group->traffic.find(purpose);
    if (found == group->traffic.end())
      found = group->traffic.emplace(std::string(purpose), Traffic{}).first;
    found->second.messages += sent.messages;
    found->second.bytes += sent.bytes;
  }

  if (!by_peer)
    for (detail::OwnPiece const& own : pieces.own)
      for (std::int64_t run = 0; run < own.runs; ++run)
        copy_bytes<Memory, Memory>(exec, static_cast<char*>(own.to) + run * own.pitch_to,
                                   static_cast<char const*>(own.from) + run * own.pitch_from,
                                   own.bytes);
  // The time of kernels before the exchange doesn't count, unless the transport waits for them
  // itself.
  if (transport == Transport::mpi) exec.fence();
  detail::AddSeconds const timed(*state_);
  std::unique_ptr<detail::UnderWay> inner;
  if (transport == Transport::staged) {
    inner = std::make_unique<detail::StagedExchange<Exec>>(exec, state_, pieces);
  } else if (transport == Transport::mpi) {
    inner = state_->engine->begin(pieces.sends, pieces.receives);
  } else if (transport == Transport::nccl) {
    if constexpr (!runs_on_host<Exec>) inner = detail::begin_by_nccl(state_->nccl, exec, pieces);
  } else if (by_peer) {
    if constexpr (!runs_on_host<Exec>) {
      // Parts of a group that has chosen this connect when they need it.
      if (!state_->peer) state_->peer = detail::connect_by_peer(*this);
      inner = detail::begin_by_peer(state_->peer, *state_->engine, exec, pieces);
    }
  }
  return Exchange(std::make_unique<detail::Counted>(state_, std::move(inner)));
}

}  // namespace coir::distributed

#define COIR_INSTANTIATE_EXCHANGE(Exec)                                                    \
  template coir::distributed::Transport coir::distributed::Group::transport<Exec>() const; \
  template std::string coir::distributed::Group::why_transport<Exec>() const;              \
  template coir::distributed::Exchange coir::distributed::Group::begin(                    \
      Exec const&, std::string_view, std::span<coir::distributed::Send const>,             \
      std::span<coir::distributed::Receive const>) const;
