// How long transforms over ranks take:
//
//     mpirun -n 2 slab_table [--sizes 128,256] [--host] [--peer]
//
// For each size n, of n^3 numbers in float: real to half spectrum and back, a filter (both and a product), and complex both ways.
// Each figure is the median of rounds that all ranks begin together, the slowest rank's time. "limit" is the share of the time that
// three passes over the rank's numbers, read and written once, take at the measured copy bandwidth; --peer adds FFTW-MPI on hosts,
// where the build has found it, with planes in place and the transposed output that this library has.

#include <support/ranks.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>

#ifdef COIR_BENCH_FFTW_MPI
#include <fftw3-mpi.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coir::Shape;
using coir::distributed::Group;

struct Options {
  std::vector<std::int64_t> sizes{128, 256};
  bool on_host = false, peer = false;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    std::string_view const word = argv[n];
    if (word == "--host") {
      options.on_host = true;
    } else if (word == "--peer") {
      options.peer = true;
    } else if (word == "--sizes" && n + 1 < argc) {
      options.sizes.clear();
      std::istringstream numbers(argv[++n]);
      for (std::string number; std::getline(numbers, number, ',');)
        options.sizes.push_back(std::atoll(number.c_str()));
    } else {
      throw coir::PreconditionError("unknown option " + std::string(word) +
                                    ": there are --sizes N,N,..., --host and --peer");
    }
  }
  for (auto const size : options.sizes)
    coir::expects(size >= 1 && size <= 8192, "--sizes must be 1 to 8192", size);
  return options;
}

/// Median over rounds of the slowest rank's time.
double median_seconds(Group const& world, std::function<void()> const& call) {
  call();
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < 5 || (total < 0.5 && seconds.size() < 100)) {
    world.barrier();
    auto const start = std::chrono::steady_clock::now();
    call();
    seconds.push_back(
        world.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
    total += seconds.back();
  }
  auto const middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

#ifdef COIR_BENCH_FFTW_MPI
/// One rank has no session's MPI, which the peer wants all the same.
void start_mpi_for_peer() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) return;
  MPI_Init(nullptr, nullptr);
  std::atexit([] { MPI_Finalize(); });
}
#endif

/// Does nothing to the modes but cost what a product costs.
struct One {
  KOKKOS_FUNCTION float operator()(std::int64_t, std::int64_t, std::int64_t) const { return 1; }
};

template <class Exec>
class Table {
  using Block = typename coir::fft::RealSlab<Exec, float>::Block;
  using Memory = Kokkos::View<Kokkos::complex<float>*, typename Exec::memory_space>;

 public:
  Table(Group const& world, bool peer) : world_(world), peer_(peer) {
    if (world_.is_first()) copy_ = coir::measure_limits(exec_).copy_bandwidth;
    world_.broadcast(&copy_, sizeof copy_);
    std::string const transport(name_of(world_.transport<Exec>()));
    int const threads = coir::host_threads(exec_);
    if (world_.is_first())
      std::cout << world_.size() << " ranks, " << coir::device_name(exec_)
                << (coir::runs_on_host<Exec> ? ", " + std::to_string(threads) + " threads each"
                                             : "")
                << ", transport " << transport << "\n"
                << "    n  what                      ms   limit\n";
  }

  void add(std::int64_t n) {
    real(n);
    complex(n);
    if (world_.size() == 1) whole(n);
#ifdef COIR_BENCH_FFTW_MPI
    if (peer_ && coir::runs_on_host<Exec>) fftw(n);
#endif
  }

 private:
  static Block block(Memory const& memory, Shape<3> const& extents) {
    return Block(memory.data(), static_cast<std::size_t>(extents[0]),
                 static_cast<std::size_t>(extents[1]), static_cast<std::size_t>(extents[2]));
  }
  static std::size_t count(Shape<3> const& e) {
    return static_cast<std::size_t>(e[0] * e[1] * e[2]);
  }

  void line(std::int64_t n, char const* what, double complex_numbers, double passes,
            std::function<void()> const& call) {
    double const seconds = median_seconds(world_, call);
    double const bytes = 2 * 8 * complex_numbers / world_.size();
    if (world_.is_first()) {
      std::printf("%5lld  %-20s %9.3f  %5.0f %%\n", static_cast<long long>(n), what, 1e3 * seconds,
                  100 * passes * bytes / copy_ / seconds);
      std::fflush(stdout);
    }
  }

  void real(std::int64_t n) {
    coir::fft::RealSlab<Exec, float> const slab(exec_, world_, {n, n, n});
    Memory const a("a", count(slab.field_extents())), b("b", count(slab.spectrum_extents()));
    auto const field = block(a, slab.field_extents()), spectrum = block(b, slab.spectrum_extents());
    double const numbers = static_cast<double>(n * n * (n / 2 + 1));
    line(n, "real forward", numbers, 3, [&] {
      slab.forward(field, spectrum);
      exec_.fence();
    });
    line(n, "real backward", numbers, 3, [&] {
      slab.backward(spectrum, field);
      exec_.fence();
    });
    line(n, "filter", numbers, 6, [&] {
      slab.filter(field, spectrum, One{});
      exec_.fence();
    });
  }

  void complex(std::int64_t n) {
    coir::fft::ComplexSlab<Exec, float> const slab(exec_, world_, {n, n, n});
    Memory const a("a", count(slab.field_extents())), b("b", count(slab.spectrum_extents()));
    auto const field = block(a, slab.field_extents()), spectrum = block(b, slab.spectrum_extents());
    double const numbers = static_cast<double>(n * n * n);
    line(n, "complex forward", numbers, 3, [&] {
      slab.forward(field, spectrum);
      exec_.fence();
    });
    line(n, "complex backward", numbers, 3, [&] {
      slab.backward(spectrum, field);
      exec_.fence();
    });
  }

  /// Plans of one rank, which need no second memory.
  void whole(std::int64_t n) {
    coir::fft::RealPlan<Exec, float, 3> const plan(exec_, {n, n, n}, 1, {.in_place = true});
    Shape<3> const extents{n, n, n / 2 + 1};
    Memory const a("a", count(extents));
    auto const spectrum = block(a, extents);
    auto const field = coir::fft::real_view_of(spectrum, n);
    double const numbers = static_cast<double>(n * n * (n / 2 + 1));
    line(n, "plan, real forward", numbers, 3, [&] {
      plan.forward(field, spectrum);
      exec_.fence();
    });
    line(n, "plan, real backward", numbers, 3, [&] {
      plan.backward(spectrum, field);
      exec_.fence();
    });
    line(n, "plan, filter", numbers, 6, [&] {
      plan.filter(field, spectrum, One{});
      exec_.fence();
    });
  }

#ifdef COIR_BENCH_FFTW_MPI
  void fftw(std::int64_t n) {
    start_mpi_for_peer();
    fftwf_mpi_init();
    ptrdiff_t planes = 0, first = 0, rows = 0, first_row = 0;
    ptrdiff_t const size = fftwf_mpi_local_size_3d_transposed(n, n, n / 2 + 1, MPI_COMM_WORLD,
                                                              &planes, &first, &rows, &first_row);
    auto* const numbers = fftwf_alloc_complex(static_cast<std::size_t>(size));
    auto* const reals = reinterpret_cast<float*>(numbers);
    auto* const forward = fftwf_mpi_plan_dft_r2c_3d(n, n, n, reals, numbers, MPI_COMM_WORLD,
                                                    FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
    auto* const backward = fftwf_mpi_plan_dft_c2r_3d(n, n, n, numbers, reals, MPI_COMM_WORLD,
                                                     FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);
    std::fill(reals, reals + 2 * size, 0.0f);
    double const count = static_cast<double>(n * n * (n / 2 + 1));
    line(n, "FFTW-MPI forward", count, 3, [&] { fftwf_execute(forward); });
    line(n, "FFTW-MPI backward", count, 3, [&] { fftwf_execute(backward); });
    fftwf_destroy_plan(forward);
    fftwf_destroy_plan(backward);
    fftwf_free(numbers);
  }
#endif

  Exec exec_;
  Group world_;
  bool peer_;
  double copy_ = 0;
};

template <class Exec>
void print_table(Options const& options, Group const& world) {
  Table<Exec> table(world, options.peer);
  for (auto const n : options.sizes) table.add(n);
}

}  // namespace

int main(int argc, char** argv) {
  return coir::bench::run_on_ranks("slab_table", argc, argv, options_of,
                                   [](auto exec, Options const& options, Group const& world) {
                                     print_table<decltype(exec)>(options, world);
                                   });
}
