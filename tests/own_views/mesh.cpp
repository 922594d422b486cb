// Particles and meshes in a program's own Views.
#include "own_views.hpp"

#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/readout.hpp>

#include <cmath>

struct Check {
  template <class Layout>
  bool operator()() const {
    int const n = 100;
    Kokkos::View<float* [3], Layout> const positions("positions", n);
    auto const host = Kokkos::create_mirror_view(positions);
    for (int p = 0; p < n; ++p)
      for (int d = 0; d < 3; ++d) host(p, d) = float((37 * p + 11 * d * p) % 97) / 97;
    Kokkos::deep_copy(positions, host);

    Kokkos::View<float***, Layout> const mesh("mesh", 8, 6, 5);
    coir::mesh::paint(positions, 1.0, mesh);
    auto const cells = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, mesh);
    double total = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 6; ++j)
        for (int k = 0; k < 5; ++k) total += cells(i, j, k);
    bool const fine = holds(std::abs(total - n) < 1e-3, "each particle is painted");

    Kokkos::View<float*, Layout> const values("values", n);
    Kokkos::deep_copy(mesh, 2);
    coir::mesh::readout(positions, 1.0, mesh, values);
    auto const read = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values);
    double error = 0;
    for (int p = 0; p < n; ++p) error += std::abs(read(p) - 2);
    auto const spectrum = coir::mesh::power_spectrum(positions, 1.0, 8);
    return holds(error < 1e-4, "a constant mesh is read as it is") &&
           holds(!spectrum.power.empty(), "a power spectrum") && fine;
  }
};

int main(int argc, char** argv) { return run(argc, argv, Check{}); }
