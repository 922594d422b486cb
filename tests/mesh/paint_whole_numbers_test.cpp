#include <coir/mesh/paint.hpp>
#include <coir/mesh/paint_whole_numbers.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>

using namespace coir;
using namespace coir::testing;

namespace {

template <class Exec>
using WholeNumbers =
    Kokkos::View<std::int64_t***, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec, class T>
std::vector<std::int64_t> painted(VectorsOf<Exec, T> const& x, VectorsOf<Exec, T> const& vectors,
                                  int d, double scale, Extents const& n,
                                  mesh::Assignment assignment) {
  WholeNumbers<Exec> const cells("cells", static_cast<std::size_t>(n[0]),
                                 static_cast<std::size_t>(n[1]), static_cast<std::size_t>(n[2]));
  mesh::paint_whole_numbers<Exec, T>(Exec{}, x.data(), static_cast<std::int64_t>(x.extent(0)), 2.5,
                                     vectors.data() + d, scale,
                                     mesh::whole_window(mesh::Cells<std::int64_t>{
                                         cells.data(), {n[0], n[1], n[2]}, n[1] * n[2], n[2]}),
                                     assignment);
  Exec{}.fence();
  return elements(cells);
}

}  // namespace

COIR_TYPED_SUITE(PaintWholeNumbers);

TYPED_TEST(PaintWholeNumbers, LosesNothingAndIsThePlainLoop) {
  TYPES_OF_CASE;
  double const scale = 1 << 30;
  for (Extents const& n :
       {Extents{1, 1, 1}, Extents{3, 2, 1}, Extents{5, 4, 7}, Extents{13, 17, 31}})
    for (std::int64_t count : {0, 1, 129, 3001}) {
      auto const particles = scattered(count, 2.5, 9);
      auto const x = to_view<Exec, T>(particles);
      VectorsOf<Exec, T> const vectors("vectors", static_cast<std::size_t>(count));
      auto const numbers = fill_at_random(vectors, 3);
      for (auto const assignment : assignments)
        for (int d : {0, 2}) {
          auto const cells = painted<Exec, T>(x, vectors, d, scale, n, assignment);
          std::int64_t sum = 0, all = 0;
          for (auto const cell : cells) sum += cell;
          std::vector<double> expected(cells.size());
          double tolerance = 0;
          for (std::size_t p = 0; p < particles.size(); ++p) {
            double const number = numbers[3 * p + static_cast<std::size_t>(d)];
            all += static_cast<std::int64_t>(std::rint(number * scale));
            coir::testing::touch(particles[p], 2.5, n, assignment, [&](std::int64_t c, double w) {
              expected[static_cast<std::size_t>(c)] += number * w;
            });
            // Weights are off by the position's rounding in cells; a part by less than one.
            tolerance +=
                std::abs(number) * std::numeric_limits<T>::epsilon() * (8 + 2.4 * 31) + 64 / scale;
          }
          EXPECT_EQ(sum, all);
          for (std::size_t c = 0; c < cells.size(); ++c)
            ASSERT_NEAR(static_cast<double>(cells[c]) / scale, expected[c], tolerance);
        }
    }
}

TYPED_TEST(PaintWholeNumbers, HasTheSameBitsInAnyOrder) {
  TYPES_OF_CASE;
  Extents const n{6, 5, 8};
  auto particles = scattered(4001, 2.5, 7);
  auto numbers = scattered(4001, 1, 8);
  auto const forward = painted<Exec, T>(to_view<Exec, T>(particles), to_view<Exec, T>(numbers), 1,
                                        1e9, n, mesh::Assignment::tsc);
  std::reverse(particles.begin(), particles.end());
  std::reverse(numbers.begin(), numbers.end());
  EXPECT_EQ(forward, (painted<Exec, T>(to_view<Exec, T>(particles), to_view<Exec, T>(numbers), 1,
                                       1e9, n, mesh::Assignment::tsc)));
}
