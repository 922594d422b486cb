#include <coir/mesh/mesh_slopes.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using namespace coir::testing;

namespace {

template <class T>
struct Store {
  T* value;
  KOKKOS_FUNCTION void operator()(std::int64_t p, mesh::Value<T, 3> const& read) const {
    for (int d = 0; d < 3; ++d) value[3 * p + d] = read.component[d];
  }
};

/// -f' at every cell along each axis, by the formulas of mesh/force_kernel.hpp.
std::vector<double> plain_slopes(std::vector<double> const& f, Extents const& n, double box,
                                 int points) {
  std::vector<double> slopes(3 * f.size());
  for (std::int64_t c = 0; c < static_cast<std::int64_t>(f.size()); ++c) {
    Extents const at{c / (n[1] * n[2]), c / n[2] % n[1], c % n[2]};
    for (int d = 0; d < 3; ++d) {
      auto const value = [&](std::int64_t shift) {
        Extents there = at;
        there[d] = ((there[d] + shift) % n[d] + n[d]) % n[d];
        return f[(there[0] * n[1] + there[1]) * n[2] + there[2]];
      };
      double const h = box / static_cast<double>(n[d]);
      slopes[3 * c + d] = points == 2
                              ? (value(-1) - value(1)) / (2 * h)
                              : (8 * (value(-1) - value(1)) - (value(-2) - value(2))) / (12 * h);
    }
  }
  return slopes;
}

template <class Exec, class T, int Points>
void compare(Extents const& n, std::int64_t padding) {
  double const box = 2.5;
  auto const mesh = new_mesh<Exec, T>({n[0], n[1], n[2] + padding});
  auto const host = Kokkos::create_mirror_view(mesh);
  auto const f = random_numbers(n[0] * n[1] * n[2], 5);
  for (std::int64_t i = 0; i < n[0]; ++i)
    for (std::int64_t j = 0; j < n[1]; ++j)
      for (std::int64_t k = 0; k < n[2]; ++k)
        host(i, j, k) = static_cast<T>(f[(i * n[1] + j) * n[2] + k]);
  Kokkos::deep_copy(mesh, host);
  auto const slopes = plain_slopes(f, n, box, Points);
  mesh::Cells<T const> const cells{
      mesh.data(), {n[0], n[1], n[2]}, n[1] * (n[2] + padding), n[2] + padding};
  for (std::int64_t const count : {0, 1, 33, 1200}) {
    auto const particles = scattered(count, box, 9);
    auto const x = to_view<Exec, T>(particles);
    VectorsOf<Exec, T> const read("read", count);
    auto const expect_plain = [&](mesh::Assignment assignment) {
      auto const computed = elements(read);
      for (std::int64_t p = 0; p < count; ++p) {
        double expected[3] = {};
        coir::testing::touch(particles[p], box, n, assignment, [&](std::int64_t c, double w) {
          for (int d = 0; d < 3; ++d) expected[d] += w * slopes[3 * c + d];
        });
        // Numbers are below 1, differences below 1.5 / h; weights are off by some roundings and the
        // position's in cells.
        for (int d = 0; d < 3; ++d)
          ASSERT_NEAR(computed[3 * p + d], expected[d],
                      1.5 * static_cast<double>(n[d]) / box * std::numeric_limits<T>::epsilon() *
                          (16 + 2.4 * 31))
              << name_of(assignment) << " " << n[0] << "x" << n[1] << "x" << n[2];
      }
    };
    for (auto const assignment : assignments)
      mesh::with_support(assignment, [&]<int Support>(std::integral_constant<int, Support>) {
        mesh::MeshSlopes<Support, Points, T> const reader(cells, box);
        Store<T> const store{read.data()};
        mesh::read_out("slopes", Exec{}, x.data(), count, reader, store);
        expect_plain(assignment);
        if constexpr (runs_on_host<Exec>) {  // one by one, as devices read
          Kokkos::deep_copy(read, T(0));
          for (std::int64_t p = 0; p < count; ++p) store(p, reader(x.data() + 3 * p));
          expect_plain(assignment);
        }
      });
  }
}

}  // namespace

COIR_TYPED_SUITE(Slopes);

TYPED_TEST(Slopes, AreMeansOfDifferences) {
  TYPES_OF_CASE;
  for (Extents const& n : {Extents{1, 1, 1}, Extents{2, 3, 1}, Extents{3, 1, 2}, Extents{4, 5, 7},
                           Extents{13, 17, 31}})
    for (std::int64_t const padding : {0, 2}) {
      compare<Exec, T, 2>(n, padding);
      compare<Exec, T, 4>(n, padding);
    }
}
