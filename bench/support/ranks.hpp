#pragma once

/// \file
/// The frame of benchmarks that mpirun starts.

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/distributed/session.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

namespace coir::bench {

/// What main() returns. Calls print(exec, options, world) with an instance of the device's execution space, or of the host's where
/// there is no device or options.on_host says so.
///
/// \param options_of  gives the options from argc and argv
template <class OptionsOf, class Print>
int run_on_ranks(char const* name, int argc, char** argv, OptionsOf const& options_of,
                 Print const& print) {
  // Outside of the block that throws: a session that ends by an exception ends all ranks, before anybody can say why.
  distributed::Session const session(argc, argv);
  try {
    auto const options = options_of(argc, argv);
    if (!why_no_device().empty()) leave_device_out();
    setenv("KOKKOS_DISABLE_WARNINGS", "true", /*overwrite=*/0);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    if (options.on_host || device_is_left_out())
      print(Kokkos::DefaultHostExecutionSpace(), options, session.world());
    else
      print(Kokkos::DefaultExecutionSpace(), options, session.world());
    return 0;
  } catch (std::exception const& error) {
    // What is wrong on all ranks the first one tells, and ends the others.
    if (!session.world().is_first()) std::this_thread::sleep_for(std::chrono::seconds(1));
    std::cerr << name << ": error: " << error.what() << '\n';
  }
  distributed::abort_all(1);
}

}  // namespace coir::bench
