#include "group_state.hpp"
#include "mpi.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/threads.hpp>
#include <coir/distributed/session.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace coir::distributed {

struct Session::State {
  Group world{};
  int local_rank = 0, local_size = 1;
  int exceptions = std::uncaught_exceptions();
};

namespace {

bool is_set(char const* variable) { return std::getenv(variable) != nullptr; }
void set(char const* variable, int value) {
  setenv(variable, std::to_string(value).c_str(), /*overwrite=*/0);
}

Group group_by(std::unique_ptr<detail::Engine> engine) {
  auto state = std::make_shared<detail::GroupState>();
  if (engine->size() > 1) state->engine = std::move(engine);
  return Group(std::move(state));
}

/// Shares the cores of a machine out among its ranks, unless each has its own already.
void share_out_cores(Group const& machine) {
  std::vector<int> const mine = usable_processors();
  auto const counts = machine.gather(static_cast<std::int64_t>(mine.size()));
  auto const all = machine.gather_all(std::span<int const>(mine));
  bool all_alike = true;
  for (std::size_t rank = 0, at = 0; rank < counts.size();
       at += static_cast<std::size_t>(counts[rank++]))
    all_alike = all_alike && std::vector<int>(all.begin() + static_cast<std::ptrdiff_t>(at),
                                              all.begin() + static_cast<std::ptrdiff_t>(at) +
                                                  counts[rank]) == mine;
  Share share{0, static_cast<std::int64_t>(mine.size())};
  if (all_alike && machine.size() > 1)
    share = share_of(share.count, machine.rank(), machine.size());
  bool const user_decides = is_set("OMP_NUM_THREADS") || is_set("KOKKOS_NUM_THREADS");
  if (!user_decides) set("KOKKOS_NUM_THREADS", share.count > 1 ? static_cast<int>(share.count) : 1);
  // With fewer cores than ranks the system shares them out best.
  bool const is_worth = all_alike && static_cast<std::int64_t>(mine.size()) >= machine.size();
  if (is_worth && !is_set("OMP_PROC_BIND") && !is_set("OMP_PLACES"))
    use_processors({mine.begin() + share.first, mine.begin() + share.end()});
}

}  // namespace

Session::Session(int& argc, char**& argv) : state_(std::make_unique<State>()) {
  static bool is_first = true;
  expects(std::exchange(is_first, false),
          "a program has one distributed::Session, at the beginning of main: hand its world() on");
  expects(!Kokkos::is_initialized(),
          "a distributed::Session tells Kokkos which device and cores are its rank's: make it "
          "before Kokkos starts");
  Launch const launched = launch();
  bool const is_known = !launched.launcher.empty() && launched.size > 0;
  if (launched.size == 1 && !detail::mpi_is_running()) return;
  if (launched.size == 0 && !has_mpi()) return;
  if (!has_mpi())
    throw EnvironmentError(launched.launcher + " started " + std::to_string(launched.size) +
                           " copies of a program without MPI, each of which would do all of the "
                           "work: start one, or build by a preset with MPI, such as openmp-mpi");
  detail::start_mpi(argc, argv);
  state_->world = group_by(detail::world_engine());
  if (is_known && state_->world.size() != launched.size)
    throw EnvironmentError(launched.launcher + " started " + std::to_string(launched.size) +
                           " processes, but MPI knows of " + std::to_string(state_->world.size()) +
                           ": use the launcher of the MPI that coir is built with (srun: "
                           "--mpi=pmix or --mpi=pmi2)");
  Group const machine = group_by(detail::machine_engine());
  state_->local_rank = machine.rank();
  state_->local_size = machine.size();
  share_out_cores(machine);
  if (int const devices = visible_devices(); devices > 0)
    set("KOKKOS_DEVICE_ID", state_->local_rank % devices);
}

Session::~Session() {
  // If an exception ends this rank, the others may be waiting for it, and would wait forever.
  if (state_->world.size() > 1 && std::uncaught_exceptions() > state_->exceptions) {
    std::cerr << "coir: an exception ends this program on rank " +
                     std::to_string(state_->world.rank()) +
                     ", and so on all ranks: start it by coir::distributed::run(), which says what "
                     "was wrong, or catch it before its Session ends\n";
    abort_all(1);
  }
  state_->world = Group();
  detail::end_mpi();
}

Group Session::world() const { return state_->world; }
int Session::local_rank() const { return state_->local_rank; }
int Session::local_size() const { return state_->local_size; }

void abort_all(int exit_code) {
  // Launchers drop the last output of ranks that they end.
  std::cout.flush();
  std::cerr.flush();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  detail::abort_mpi(exit_code);
  std::exit(exit_code);
}

int detail::run(int& argc, char**& argv, std::function<int(Session&)> const& body) {
  std::string const program =
      argc > 0 ? std::filesystem::path(argv[0]).filename().string() : std::string("program");
  std::string text = "an exception that isn't a std::exception";
  // Outlives the exception, so that it is reported before all ranks end.
  std::optional<Session> session;
  std::optional<Kokkos::ScopeGuard> kokkos;
  try {
    session.emplace(argc, argv);
    kokkos.emplace(argc, argv);
    return body(*session);
  } catch (std::exception const& error) {
    text = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the text says what is known
  }
  bool const is_alone = !session || session->world().size() == 1;
  int const rank = session ? session->world().rank() : launch().rank;
  // Often all ranks fail alike. The first one then reports the error, and ends the others while
  // they wait here.
  if (rank > 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  std::cout.flush();
  std::cerr << program + ": error" + (is_alone ? "" : " on rank " + std::to_string(rank)) + ": " +
                   text + "\n";
  if (is_alone) return 1;
  abort_all(1);
}

Group group_of(int fortran_handle) { return group_by(detail::engine_of(fortran_handle)); }

}  // namespace coir::distributed
