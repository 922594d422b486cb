#include "before_kokkos_ends.hpp"
#include "group_state.hpp"
#include "nccl.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/own_instance.hpp>
#include <coir/core/stream.hpp>
#include <coir/distributed/together.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace coir::distributed::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Stream = decltype(stream_of(std::declval<Exec const&>()));

// The part of the library's binary interface that is used here. It is the same in RCCL, and from
// NCCL 2.7 on, which brought Send and Receive. It is declared here so that coir compiles without
// the library's header.
struct Communicator;
struct UniqueId {
  std::byte bytes[128];
};
constexpr int bytes_type = 0;  // ncclInt8
constexpr int success = 0, in_progress = 7;
constexpr int least_version = 2700;

constexpr char const* library_name = devices_have_cuda ? "NCCL" : "RCCL";
constexpr char const* library_file = devices_have_cuda ? "libnccl.so.2" : "librccl.so.1";

struct Library {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Communicator**, int, UniqueId, int) = nullptr;
  int (*abort)(Communicator*) = nullptr;
  int (*destroy)(Communicator*) = nullptr;
  int (*get_async_error)(Communicator*, int*) = nullptr;
  char const* (*get_error_string)(int) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(void const*, std::size_t, int, int, Communicator*, Stream) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Communicator*, Stream) = nullptr;
  std::string why_not;

  Library() {
    void* const file = dlopen(library_file, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      why_not = std::string("there is no ") + library_name + " (" + library_file + ")";
      return;
    }
    auto const find = [&](auto& function, char const* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
      if (function == nullptr) why_not = std::string(library_name) + " has no " + name;
    };
    find(get_version, "ncclGetVersion");
    find(get_unique_id, "ncclGetUniqueId");
    find(init_rank, "ncclCommInitRank");
    find(abort, "ncclCommAbort");
    find(destroy, "ncclCommDestroy");
    find(get_async_error, "ncclCommGetAsyncError");
    find(get_error_string, "ncclGetErrorString");
    find(group_start, "ncclGroupStart");
    find(group_end, "ncclGroupEnd");
    find(send, "ncclSend");
    find(receive, "ncclRecv");
    int version = 0;
    if (why_not.empty() && (get_version(&version) != success || version < least_version))
      why_not = std::string(library_name) + " is older than 2.7";
  }
};

Library const& library() {
  static Library const the_library;
  return the_library;
}

void expects_success(int status, char const* call) {
  if (status != success)
    throw EnvironmentError(std::string(library_name) + " failed in " + call + ": " +
                           library().get_error_string(status) +
                           "; NCCL_DEBUG=INFO says more, COIR_TRANSPORT=staged does without it");
}

struct Connection {
  Communicator* communicator = nullptr;
  // Where a kernel fills the device, messages get the first room that becomes free.
  std::optional<OwnInstance<Exec>> own{std::in_place, Precedence::first};
  BeforeKokkosEnds const closes{[this] { close(); }};

  ~Connection() { close(); }
  void close() {
    if (communicator != nullptr) {
      // After an exception destroy() could wait for other ranks forever.
      auto const end = std::uncaught_exceptions() > 0 ? library().abort : library().destroy;
      end(std::exchange(communicator, nullptr));
    }
    own.reset();
  }
};

/// A call of ncclCommInitRank in a thread of its own. If it fails on one rank, it doesn't return on
/// the others, and their threads stay behind.
class Connecting {
 public:
  Connecting(Exec const& exec, Group const& group, UniqueId const& id)
      : result_(std::make_shared<Result>()) {
    std::thread([exec = std::optional(exec), result = result_, id, ranks = group.size(),
                 rank = group.rank()]() mutable {
      make_device_current(*exec);
      exec.reset();  // a thread that stays behind must hold nothing of Kokkos
      result->status = library().init_rank(&result->communicator, ranks, id, rank);
    }).detach();
  }
  /// in_progress while the call lasts.
  int status() const { return result_->status; }
  Communicator* communicator() const { return result_->communicator; }

 private:
  struct Result {
    Communicator* communicator = nullptr;
    std::atomic<int> status = in_progress;
  };
  std::shared_ptr<Result> result_;
};

class NcclExchange : public UnderWay {
 public:
  NcclExchange(std::shared_ptr<Connection> connection, Exec const& exec)
      : connection_(std::move(connection)), exec_(exec) {}

  void finish() override {
    int status = success;
    expects_success(library().get_async_error(connection_->communicator, &status),
                    "CommGetAsyncError");
    if (status != in_progress) expects_success(status, "an exchange");
    begin_after(exec_, connection_->own->exec());
  }

 private:
  std::shared_ptr<Connection> connection_;
  Exec exec_;
};

}  // namespace

std::string why_no_nccl() { return library().why_not; }

std::shared_ptr<void> connect_by_nccl(Group const& group) {
  UniqueId id{};
  auto connection = together(group, [&] {
    if (group.is_first()) expects_success(library().get_unique_id(&id), "GetUniqueId");
    return std::make_shared<Connection>();
  });
  group.broadcast(&id, sizeof id);
  auto const connecting = together(
      group, [&] { return std::make_unique<Connecting>(connection->own->exec(), group, id); });
  // Ranks ask each other, so that none goes on waiting for one that has failed.
  for (;;) {
    auto const all = group.gather(connecting->status());
    auto const failed = std::find_if(all.begin(), all.end(), [](int status) {
      return status != success && status != in_progress;
    });
    if (failed != all.end()) {
      if (connecting->status() == success) library().abort(connecting->communicator());
      auto const rank = failed - all.begin();
      expects_success(*failed, ("CommInitRank on rank " + std::to_string(rank)).c_str());
    }
    if (std::find(all.begin(), all.end(), in_progress) == all.end()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  connection->communicator = connecting->communicator();
  count_connection();
  return connection;
}

std::unique_ptr<UnderWay> begin_by_nccl(std::shared_ptr<void> const& connection, Exec const& exec,
                                        Pieces const& pieces) {
  auto const held = std::static_pointer_cast<Connection>(connection);
  Exec const& own = held->own->exec();
  begin_after(own, exec);
  expects_success(library().group_start(), "GroupStart");
  int status = success;
  for (Receive const& piece : pieces.receives)
    if (status == success)
      status = library().receive(piece.data, static_cast<std::size_t>(piece.bytes), bytes_type,
                                 piece.from, held->communicator, stream_of(own));
  for (Send const& piece : pieces.sends)
    if (status == success)
      status = library().send(piece.data, static_cast<std::size_t>(piece.bytes), bytes_type,
                              piece.to, held->communicator, stream_of(own));
  int const ended = library().group_end();
  expects_success(status, "Send or Recv");
  expects_success(ended, "GroupEnd");
  return std::make_unique<NcclExchange>(held, exec);
}

}  // namespace coir::distributed::detail
