// How long transforms over ranks take:
//
//     mpirun -n 2 slab_table [--sizes 128,256] [--cases real,filter,complex,plan] [--rows 1]
//     [--offset BYTES] [--host] [--peer] [--json]
//
// For each size n, of n^3 numbers in float: real to half spectrum and back (on one rank also in
// place), a filter (both and a product), and complex both ways. With --rows R the ranks are a grid
// of R rows, and share fields out by pencils. Fields begin so many bytes behind a multiple of 256
// bytes as --offset says, 128 unless it is told, as memory of Views. Each time is the median of
// rounds that all ranks begin together, the slowest rank's. share_of_copy is the share of the time
// that three passes over the rank's numbers, read and written once, take at the measured copy
// bandwidth. --peer adds FFTW-MPI on hosts, where the build has found it, with planes in place and
// the transposed output that this library has. Cases that don't fit in memory are left out with a
// line that says why.
// --json prints an object a line for programs that read them.

#include <support/held_memory.hpp>
#include <support/ranks.hpp>

#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>

#ifdef COIR_BENCH_FFTW_MPI
#include <fftw3-mpi.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using coir::Shape;
using coir::bench::Options;
using coir::bench::Row;
using coir::distributed::Group;

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
  Table(Exec const& exec, Group const& world, Options const& options)
      : exec_(exec),
        world_(world),
        as_json_(options.is_on("--json")),
        offset_(options.number("--offset", 0, 248)),
        rows_(static_cast<int>(options.number("--rows", 1, world.size()))) {
    if (world_.is_first() && !as_json_) copy_ = coir::measure_limits(exec_).copy_bandwidth;
    world_.broadcast(&copy_, sizeof copy_);
    cases_ = options.list("--cases");
    for (auto const& name : cases_)
      coir::expects(name == "real" || name == "filter" || name == "complex" || name == "plan",
                    "--cases are real, filter, complex and plan", name);
    for (auto const n : options.numbers("--sizes", 1, 8192)) add(n, options.is_on("--peer"));
  }

 private:
  void add(std::int64_t n, [[maybe_unused]] bool peer) {
    bool const both = has("real"), filter = has("filter");
    if (both || filter) real(n, both, filter);
    if (has("complex")) complex(n);
    if (has("plan") && world_.size() == 1) whole(n);
#ifdef COIR_BENCH_FFTW_MPI
    if (peer && coir::runs_on_host<Exec>) fftw(n);
#endif
  }

  static Memory memory(std::size_t count) {
    constexpr std::size_t size = sizeof(Kokkos::complex<float>);
    auto const bytes = static_cast<std::int64_t>((count + 64) * size);
    auto const pages = coir::bytes_in_large_pages<typename Exec::memory_space>(bytes);
    return Memory("field", static_cast<std::size_t>(pages) / size);
  }
  Block block(Memory const& memory, Shape<3> const& extents) const {
    auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
    auto const shift = (256 - address % 256) % 256 + static_cast<std::size_t>(offset_);
    return Block(memory.data() + shift / sizeof(*memory.data()),
                 static_cast<std::size_t>(extents[0]), static_cast<std::size_t>(extents[1]),
                 static_cast<std::size_t>(extents[2]));
  }
  static std::size_t count(Shape<3> const& e) {
    return static_cast<std::size_t>(e[0] * e[1] * e[2]);
  }

  bool has(char const* name) const {
    return std::find(cases_.begin(), cases_.end(), name) != cases_.end();
  }

  Row row(std::int64_t n, char const* what) const {
    return Row(what)
        .add("rows", std::int64_t(rows_))
        .add("n", n)
        .add("bytes_predicted", predicted_);
  }

  /// Bytes of this rank's fields, spectra and work, at most.
  template <bool OfReal>
  std::int64_t slab_bytes(std::int64_t n) const {
    using namespace coir::fft;
    using Whole = std::conditional_t<OfReal, RealPlan<Exec, float, 3>, ComplexPlan<Exec, float, 3>>;
    using Planes =
        std::conditional_t<OfReal, RealPlan<Exec, float, 2>, ComplexPlan<Exec, float, 2>>;
    PlanOptions const by_planes{.in_place = true, .by_planes = true};
    if (rows_ > 1) return pencil_bytes<Whole, OfReal>(n);
    bool const alone = world_.size() == 1;
    auto const share = coir::distributed::share_of(n, world_.rank(), world_.size()).count;
    std::int64_t const lines = share * (OfReal ? n / 2 + 1 : n), field = 8 * n * lines;
    if constexpr (coir::runs_on_host<Exec>)
      return 2 * field + (alone ? 1 : 2) * Whole::work_bytes(exec_, {n, n, n}, 1, by_planes);
    if (share == 0) return 0;
    return (alone ? 2 : 3) * field + Planes::work_bytes(exec_, {n, n}, share, by_planes) +
           ComplexPlan<Exec, float, 1>::work_bytes(exec_, {n}, lines, by_planes);
  }

  /// The same by pencils.
  template <class Whole, bool OfReal>
  std::int64_t pencil_bytes(std::int64_t n) const {
    auto const most = [](std::int64_t extent, int ranks) { return (extent + ranks - 1) / ranks; };
    int const rows = rows_, columns = std::max(1, world_.size() / std::max(1, rows));
    std::int64_t const row = OfReal ? n / 2 + 1 : n, modes = most(row, rows);
    std::int64_t const field = most(n, columns) * most(n, rows) * row,
                       middle = most(n, columns) * n * modes;
    std::int64_t work = 0;  // of lines along three axes
    if constexpr (coir::runs_on_host<Exec>)
      work = 3 * Whole::work_bytes(exec_, {n, n, n}, 1, {.in_place = true, .by_planes = true});
    else
      work = 3 * coir::fft::ComplexPlan<Exec, float, 1>::work_bytes(exec_, {n}, middle / n,
                                                                    {.in_place = true});
    // The field, the spectrum, and what is held beside each.
    return 4 * 8 * std::max(field, middle) + work;
  }

  /// Whether a case fits in memory; otherwise it says why not. Lines that follow tell what was
  /// predicted.
  bool fits(std::int64_t n, char const* what, std::int64_t bytes) {
    predicted_ = world_.max(bytes);
    held_.emplace();
    std::string const why = coir::bench::why_too_large<Exec>(world_, bytes);
    if (!why.empty() && world_.is_first()) row(n, what).add("skipped", why).print(as_json_);
    return why.empty();
  }

  /// \param passes  over so many complex numbers, of which share_of_copy is a share
  template <class Call>
  void line(std::int64_t n, char const* what, double complex_numbers, double passes,
            Call const& call) {
    auto const waited = [&] {
      call();
      exec_.fence();
    };
    std::int64_t const before = world_.traffic().bytes;
    waited();
    std::int64_t const sent = world_.max(world_.traffic().bytes - before);
    if (held_) held_bytes_ = world_.max(held_->peak());
    held_.reset();
    auto const seconds = coir::bench::seconds_of_rounds(world_, waited);
    double const median = coir::bench::median(seconds);
    auto result = row(n, what);
    result.add("seconds", median).add("rounds", static_cast<std::int64_t>(seconds.size()));
    result.add("bytes_sent", sent).add("bytes_held", held_bytes_);
    double const bytes = 2 * 8 * complex_numbers / world_.size();
    if (!as_json_) result.add("share_of_copy", passes * bytes / copy_ / median);
    if (world_.is_first()) result.print(as_json_);
  }

  void real(std::int64_t n, bool both, bool filter) {
    if (!fits(n, both ? "real forward" : "filter", slab_bytes<true>(n))) return;
    coir::fft::RealSlab<Exec, float> const slab(exec_, world_, {n, n, n}, {}, {.rows = rows_});
    auto const a = memory(count(slab.field_extents())), b = memory(count(slab.spectrum_extents()));
    auto const field = block(a, slab.field_extents()), spectrum = block(b, slab.spectrum_extents());
    double const numbers = static_cast<double>(n * n * (n / 2 + 1));
    if (both) {
      line(n, "real forward", numbers, 3, [&] { slab.forward(field, spectrum); });
      line(n, "real backward", numbers, 3, [&] { slab.backward(spectrum, field); });
    }
    if (both && world_.size() == 1) {
      line(n, "in place, forward", numbers, 3, [&] { slab.forward(field, field); });
      line(n, "in place, backward", numbers, 3, [&] { slab.backward(field, field); });
    }
    if (!filter) return;
    line(n, "filter", numbers, 6, [&] { slab.filter(field, spectrum, One{}); });
  }

  void complex(std::int64_t n) {
    if (!fits(n, "complex forward", slab_bytes<false>(n))) return;
    coir::fft::ComplexSlab<Exec, float> const slab(exec_, world_, {n, n, n}, {}, {.rows = rows_});
    auto const a = memory(count(slab.field_extents())), b = memory(count(slab.spectrum_extents()));
    auto const field = block(a, slab.field_extents()), spectrum = block(b, slab.spectrum_extents());
    double const numbers = static_cast<double>(n * n * n);
    line(n, "complex forward", numbers, 3, [&] { slab.forward(field, spectrum); });
    line(n, "complex backward", numbers, 3, [&] { slab.backward(spectrum, field); });
  }

  /// Plans of one rank, which need no second memory.
  void whole(std::int64_t n) {
    using Plan = coir::fft::RealPlan<Exec, float, 3>;
    std::int64_t const work = Plan::work_bytes(exec_, {n, n, n}, 1, {.in_place = true});
    if (!fits(n, "plan, real forward", 8 * n * n * (n / 2 + 1) + work)) return;
    Plan const plan(exec_, {n, n, n}, 1, {.in_place = true});
    Shape<3> const extents{n, n, n / 2 + 1};
    auto const a = memory(count(extents));
    auto const spectrum = block(a, extents);
    auto const field = coir::fft::real_view_of(spectrum, n);
    double const numbers = static_cast<double>(n * n * (n / 2 + 1));
    line(n, "plan, real forward", numbers, 3, [&] { plan.forward(field, spectrum); });
    line(n, "plan, real backward", numbers, 3, [&] { plan.backward(spectrum, field); });
    line(n, "plan, filter", numbers, 6, [&] { plan.filter(field, spectrum, One{}); });
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
  bool as_json_;
  std::int64_t offset_;
  int rows_;
  std::vector<std::string> cases_;
  /// Until a case is timed: who listens slows loops down.
  std::optional<coir::testing::HeldMemory> held_;
  std::int64_t predicted_ = 0, held_bytes_ = 0;
  double copy_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return coir::bench::run_on_ranks(
      argc, argv,
      {{"--sizes", "128,256"},
       {"--cases", "real,filter,complex,plan"},
       {"--rows", "1"},
       {"--offset", "128"},
       {"--peer", ""}},
      []<class Exec>(Exec const& exec, Options const& options, Group const& world) {
        Table<Exec>(exec, world, options);
      });
}
