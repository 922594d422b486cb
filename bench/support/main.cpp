// Runs the benchmarks of one file, with Kokkos around them and the machine's limits in the report.
// With
// --smoke, for tests, the limits aren't measured.

#include <device/leave_device_out.hpp>
#include <support/limits.hpp>

#include <coir/core/machine.hpp>
#include <coir/core/threads.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

namespace {

int run(int argc, char** argv) {
  std::vector<char*> own, kokkos;
  bool only_listing = false;
  for (int i = 0; i < argc; ++i) {
    std::string_view const argument = argv[i];
    bool const for_kokkos = argument.starts_with("--kokkos-");
    if (argument == "--smoke") {
      coir::bench::measures_limits = false;
      continue;
    }
    if (i == 0 || !for_kokkos) own.push_back(argv[i]);
    if (i == 0 || for_kokkos) kokkos.push_back(argv[i]);
    only_listing |= argument == "--benchmark_list_tests" || argument == "--help";
  }
  int own_count = static_cast<int>(own.size()), kokkos_count = static_cast<int>(kokkos.size());
  own.push_back(nullptr);
  kokkos.push_back(nullptr);
  benchmark::Initialize(&own_count, own.data());
  if (benchmark::ReportUnrecognizedArguments(own_count, own.data())) return 2;

  if (only_listing) {  // needs no device
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
#ifdef COIR_BENCH_ON_HOST
  coir::apps::leave_device_out();  // it isn't needed, and may not be there
#else
  coir::expects_usable_device();
#endif
  bool const user_decides = std::getenv("OMP_PROC_BIND") != nullptr;
  setenv("OMP_PROC_BIND", "false", /*overwrite=*/0);  // or else Kokkos warns
  Kokkos::ScopeGuard const scope(kokkos_count, kokkos.data());
  if (!user_decides) coir::bind_host_threads();
  if (coir::bench::measures_limits) coir::bench::add_context();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& error) {
    std::cerr << argv[0] << ": error: " << error.what() << '\n';
    return 1;
  }
}
