// Real transforms of cubes that the ranks share out by planes, and spectra by rows: there and back, and with a product of each mode
// between. heFFTe exchanges in four ways; each is timed.

#include "in_turns.hpp"

#include <coir/core/loops.hpp>
#include <coir/distributed/session.hpp>
#include <coir/fft/slab.hpp>

#include <heffte.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using Exec = Kokkos::DefaultHostExecutionSpace;
using Slab = coir::fft::RealSlab<Exec, float>;
using Memory = Kokkos::View<Kokkos::complex<float>***, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Plan = heffte::fft3d_r2c<heffte::backend::fftw>;

struct Half {
  KOKKOS_FUNCTION float operator()(std::int64_t, std::int64_t, std::int64_t) const { return 0.5f; }
};

/// Axes as heFFTe counts them, the quickest first: z, y, x.
heffte::box3d<> part(coir::Shape<3> const& extents, int axis,
                     coir::distributed::Share const& share) {
  std::array<int, 3> low{0, 0, 0},
      high{int(extents[2]) - 1, int(extents[1]) - 1, int(extents[0]) - 1};
  low[2 - axis] = int(share.first);
  high[2 - axis] = int(share.first + share.count) - 1;
  return {low, high};
}

void cube(coir::distributed::Group const& world, std::int64_t n) {
  Exec const exec;
  Slab const slab(exec, world, {n, n, n});
  auto const memory = [](coir::Shape<3> const& e) {
    return Memory("memory", std::size_t(e[0]), std::size_t(e[1]), std::size_t(e[2]));
  };
  Memory const field_memory = memory(slab.field_extents()),
               spectrum_memory = memory(slab.spectrum_extents());
  Slab::Block const field(field_memory), spectrum(spectrum_memory);
  auto const planes = part({n, n, n}, 0, slab.planes()),
             rows = part({n, n, n / 2 + 1}, 1, slab.rows());
  std::vector<float> real(std::size_t(planes.count()));
  std::vector<std::complex<float>> modes(std::size_t(rows.count()));

  auto* const padded = reinterpret_cast<float*>(field.data());
  for (std::size_t line = 0, at = 0; at < real.size(); ++line)
    for (std::int64_t k = 0; k < n; ++k, ++at)
      padded[std::int64_t(line) * 2 * (n / 2 + 1) + k] = real[at] =
          float((at * 7919 + std::size_t(world.rank())) % 1009) - 504;
  slab.forward(field, spectrum);
  Plan(planes, rows, 0, MPI_COMM_WORLD).forward(real.data(), modes.data());
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    std::complex<float> const ours(spectrum.data()[i].real(), spectrum.data()[i].imag());
    largest = std::max(largest, double(std::abs(ours)));
    difference = std::max(difference, double(std::abs(ours - modes[i])));
  }
  if (difference > 1e-5 * largest) {
    std::printf("the spectra differ by %g of %g\n", difference, largest);
    coir::distributed::abort_all(1);
  }
  // Zeros stay zeros, however often they are transformed.
  Kokkos::deep_copy(field, Kokkos::complex<float>(0));
  Kokkos::deep_copy(spectrum, Kokkos::complex<float>(0));
  std::fill(real.begin(), real.end(), 0.0f);
  std::fill(modes.begin(), modes.end(), std::complex<float>(0));

  Around around;
  around.before = [&] { world.barrier(); };
  around.slowest = [&](double mine) { return world.max(mine); };
  around.prints = world.is_first();
  for (bool const pencils : {false, true})
    for (auto const& [algorithm, called] :
         {std::pair(heffte::reshape_algorithm::alltoallv, "alltoallv"),
          std::pair(heffte::reshape_algorithm::p2p_plined, "point to point")}) {
      auto options = heffte::default_options<heffte::backend::fftw>();
      options.use_pencils = pencils;
      options.algorithm = algorithm;
      Plan const plan(planes, rows, 0, MPI_COMM_WORLD, options);
      std::vector<std::complex<float>> work(plan.size_workspace());
      std::string const name =
          std::to_string(n) + "^3, " + called + (pencils ? ", pencils, " : ", slabs, ");
      in_turns(
          name + "both ways",
          [&] {
            slab.forward(field, spectrum);
            slab.backward(spectrum, field);
          },
          [&] {
            plan.forward(real.data(), modes.data(), work.data());
            plan.backward(modes.data(), real.data(), work.data());
          },
          around);
      in_turns(
          name + "filter", [&] { slab.filter(field, spectrum, Half{}); },
          [&] {
            plan.forward(real.data(), modes.data(), work.data());
            for (auto& mode : modes) mode *= 0.5f;
            plan.backward(modes.data(), real.data(), work.data());
          },
          around);
    }
}

int main(int argc, char** argv) {
  return coir::distributed::run(argc, argv, [](coir::distributed::Session& session) {
    print_heading(session.world().is_first());
    for (std::int64_t const n : {128, 256}) cube(session.world(), n);
  });
}
