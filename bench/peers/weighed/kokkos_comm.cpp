// A ring: each rank sends to the next one and receives from the one before.

#include "in_turns.hpp"

#include <coir/distributed/session.hpp>

#include <KokkosComm/KokkosComm.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using Exec = Kokkos::DefaultHostExecutionSpace;
using Bytes = Kokkos::View<char*, Kokkos::HostSpace>;

void ring(coir::distributed::Group const& world, std::int64_t size) {
  Exec const exec;
  Bytes const sent("sent", std::size_t(size)), came("came", std::size_t(size));
  int const next = (world.rank() + 1) % world.size(),
            before = (world.rank() + world.size() - 1) % world.size();
  std::vector<coir::distributed::Send> const sends{{next, sent.data(), size}};
  std::vector<coir::distributed::Receive> const receives{{before, came.data(), size}};
  KokkosComm::Handle<Exec, KokkosComm::Mpi> handle(exec, MPI_COMM_WORLD);

  auto const ours = [&] {
    world.exchange(exec, "ring", sends, receives);
    exec.fence();
  };
  auto const theirs = [&] {
    std::vector<KokkosComm::Req<KokkosComm::Mpi>> requests;
    requests.push_back(KokkosComm::recv(handle, came, before));
    requests.push_back(KokkosComm::send(handle, sent, next));
    KokkosComm::wait_all(requests);
  };
  for (int turn = 0; turn < 2; ++turn) {
    Kokkos::deep_copy(sent, char(1 + world.rank() + turn));
    if (turn == 0)
      ours();
    else
      theirs();
    if (came(std::size_t(size) - 1) == char(1 + before + turn)) continue;
    std::puts("what came isn't what was sent");
    std::exit(1);
  }
  Around around;
  around.before = [&] { world.barrier(); };
  around.slowest = [&](double mine) { return world.max(mine); };
  around.prints = world.is_first();
  in_turns("ring of " + std::to_string(size) + " bytes", ours, theirs, around);
}

int main(int argc, char** argv) {
  return coir::distributed::run(argc, argv, [](coir::distributed::Session& session) {
    print_heading(session.world().is_first());
    for (std::int64_t size = 1024; size <= std::int64_t(64) << 20; size *= 16)
      ring(session.world(), size);
  });
}
