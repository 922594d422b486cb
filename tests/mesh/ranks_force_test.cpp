#include <coir/mesh/force.hpp>
#include <coir/mesh/mesh_slopes.hpp>
#include <coir/mesh/mesh_values.hpp>
#include <coir/mesh/paint.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using coir::Shape;
using coir::distributed::Group;
using coir::mesh::Assignment;
using coir::mesh::Force;
using coir::mesh::ForceKernel;
using coir::mesh::ForceOptions;
using coir::testing::world;
using Points = std::vector<std::array<double, 3>>;

COIR_RANKS_SUITE(RanksForce);

constexpr double box = 10;

template <class T>
struct StoreVector {
  T* to;
  KOKKOS_FUNCTION void operator()(std::int64_t p, coir::mesh::Value<T, 3> const& value) const {
    for (int d = 0; d < 3; ++d) to[3 * p + d] = value.component[d];
  }
};

template <class T>
struct StoreComponent {
  T* to;
  int d;
  KOKKOS_FUNCTION void operator()(std::int64_t p, coir::mesh::Value<T, 1> const& value) const {
    to[3 * p + d] = value.component[0];
  }
};

template <class Exec, class T>
struct Found {
  Shape<3> shape;
  ForceOptions options;
  Assignment assignment;
  std::vector<T> mesh;     ///< of this rank's own planes: the vectors, or without them nothing
  std::vector<T> vectors;  ///< at its particles

  template <class Reader>
  void read(Points const& points, Reader const& reader) {
    auto const position = coir::testing::to_view<Exec, T>(points);
    Kokkos::View<T*, typename Exec::memory_space> const values("values", 3 * points.size());
    coir::mesh::read_out("test", Exec(), position.data(), static_cast<std::int64_t>(points.size()),
                         reader, StoreVector<T>{values.data()});
    Exec().fence();
    vectors = coir::testing::elements(values);
  }

  /// One component after the other: reader(d) reads it.
  template <class ReaderOf>
  void read_components(Points const& points, ReaderOf const& reader) {
    auto const position = coir::testing::to_view<Exec, T>(points);
    Kokkos::View<T*, typename Exec::memory_space> const values("values", 3 * points.size());
    for (int d = 0; d < 3; ++d) {
      coir::mesh::read_out("test", Exec(), position.data(),
                           static_cast<std::int64_t>(points.size()), reader(d),
                           StoreComponent<T>{values.data(), d});
      Exec().fence();
    }
    vectors = coir::testing::elements(values);
  }

  void over(Group const& group, Points const& mine) {
    Force<Exec, T> force(Exec(), group, shape, box, touched_beyond(assignment, 1), options);
    coir::mesh::PaintOptions paint;
    paint.assignment = assignment;
    paint.deterministic = true;
    for (int again = 0; again < 2; ++again) {
      coir::mesh::paint(Exec(), force.ghosts(), coir::testing::to_view<Exec, T>(mine), box,
                        force.density(), paint);
      force.solve(1.5);
    }
    coir::mesh::with_support(assignment, [&]<int s>(std::integral_constant<int, s>) {
      if (options.vectors)
        read(mine, coir::mesh::MeshValues<s, 3, T>(force.force_window(), box));
      else if (gradient_points(options.kernel) == 0)
        read_components(mine, [&](int d) {
          return coir::mesh::MeshValues<s, 1, T>(force.component_window(d), box);
        });
      else if (gradient_points(options.kernel) == 2)
        read(mine, coir::mesh::MeshSlopes<s, 2, T>(force.potential_window(), box));
      else
        read(mine, coir::mesh::MeshSlopes<s, 4, T>(force.potential_window(), box));
    });
    if (!options.vectors) return;
    auto const held = coir::testing::elements(force.force());
    std::int64_t const plane = 3 * shape[1] * shape[2];
    auto const first = held.begin() + force.ghosts().widths().below * plane;
    mesh.assign(first, first + force.ghosts().own().count * plane);
  }
};

template <class T>
void expect_near(T const* found, T const* expected, std::int64_t count, double scale,
                 std::string const& what) {
  for (std::int64_t i = 0; i < count; ++i)
    ASSERT_NEAR(found[i], expected[i], scale * (sizeof(T) == 4 ? 5e-6 : 5e-14)) << what;
}

template <class Exec, class T>
void compare(Shape<3> const& shape, Points const& all, ForceOptions options,
             Assignment assignment) {
  std::string const what = std::string(name_of(options.kernel)) + ", " + coir::in_words(shape) +
                           ", " + std::string(name_of(assignment)) +
                           (options.vectors ? "" : ", no vectors");
  options.effort = coir::fft::Effort::estimate;  // for the same bits
  auto const planes = coir::distributed::share_of(shape[0], world().rank(), world().size());
  Points mine;
  std::vector<std::size_t> which;
  for (std::size_t p = 0; p < all.size(); ++p) {
    double const x = all[p][0] / box, cell = std::floor((x - std::floor(x)) * shape[0]);
    auto const plane = static_cast<std::int64_t>(cell) % shape[0];
    if (plane < planes.first || plane >= planes.end()) continue;
    mine.push_back(all[p]);
    which.push_back(p);
  }
  Found<Exec, T> here{shape, options, assignment, {}, {}}, one = here;
  here.over(world(), mine);
  one.over(Group::self(), all);
  std::int64_t const plane = 3 * shape[1] * shape[2];
  double scale = 0;
  for (T const value : one.vectors) scale = std::max(scale, std::abs(static_cast<double>(value)));
  ASSERT_GT(scale, 0);
  T const* const mesh_of_one = one.mesh.data() + (options.vectors ? planes.first * plane : 0);
  if constexpr (coir::runs_on_host<Exec>)
    ASSERT_TRUE(std::equal(here.mesh.begin(), here.mesh.end(), mesh_of_one)) << what;
  else
    expect_near(here.mesh.data(), mesh_of_one, static_cast<std::int64_t>(here.mesh.size()),
                4 * scale, what);
  for (std::size_t m = 0; m < which.size(); ++m) {
    T const* const found = here.vectors.data() + 3 * m;
    T const* const of_one = one.vectors.data() + 3 * which[m];
    if constexpr (coir::runs_on_host<Exec>) {
      ASSERT_TRUE(std::equal(found, found + 3, of_one)) << what << ": particle " << which[m];
    } else {
      expect_near(found, of_one, 3, scale, what);
    }
  }
}

TYPED_TEST(RanksForce, GivesWhatOneRankGives) {
  TYPES_OF_CASE;
  auto const all = coir::testing::scattered(400, box, 1);
  ForceOptions options;
  for (bool const vectors : {true, false}) {
    options.vectors = vectors;
    options.softening = coir::mesh::Softening::none;
    for (ForceKernel const kernel :
         {ForceKernel::one_four, ForceKernel::three_two, ForceKernel::naive}) {
      options.kernel = kernel;
      for (Shape<3> const& shape : {Shape<3>{16, 6, 8}, Shape<3>{13, 7, 5}, Shape<3>{5, 4, 6}})
        compare<Exec, T>(shape, all, options, Assignment::cic);
    }
    options.kernel = ForceKernel::gadget;
    options.softening = coir::mesh::Softening::gaussian;
    compare<Exec, T>({41, 4, 3}, all, options, Assignment::tsc);
    compare<Exec, T>({9, 5, 7}, all, options, Assignment::pcs);
    compare<Exec, T>({50, 3, 1}, all, options, Assignment::cic);
    options.kernel = ForceKernel::eastwood;
    compare<Exec, T>({3, 5, 6}, all, options, Assignment::tsc);
  }
}

TYPED_TEST(RanksForce, TakesAllParticlesInOneSlab) {
  TYPES_OF_CASE;
  auto all = coir::testing::scattered(500, box, 5);
  for (auto& x : all) x[0] = static_cast<float>(0.21 * box + 0.002 * x[0]);
  compare<Exec, T>({16, 8, 8}, all, ForceOptions{}, Assignment::pcs);
}

TYPED_TEST(RanksForce, TellsOnAllRanksWhatIsWrongOnOne) {
  TYPES_OF_CASE;
  if (world().size() == 1) return;
  bool const is_last = world().rank() == world().size() - 1;
  std::string const last = std::to_string(world().size() - 1);
  auto const message = [](Shape<3> const& shape, double length, ForceOptions const& options) {
    return coir::testing::message_of([&] {
      Force<Exec, T> const force(Exec(), world(), shape, length, touched_beyond(Assignment::cic),
                                 options);
    });
  };
  EXPECT_EQ(message({8, 8, 8}, is_last ? -1 : 10, {}),
            "the box length must be positive and finite, not -1");
  EXPECT_EQ(message({8, is_last ? 9 : 8, 8}, 10, {}),
            "all ranks must be given the same number of cells along axis 1: it is 8 on rank 0 "
            "and 9 on rank " +
                last);
  EXPECT_EQ(message({8, 8, 8}, 10, {.vectors = !is_last}),
            "all ranks must be given the same force source: it is vectors on rank 0 and potential "
            "on rank " +
                last);
}

TYPED_TEST(RanksForce, GivesComponentsOfSpectralGradientsOnly) {
  TYPES_OF_CASE;
  Force<Exec, T> const force(Exec(), world(), Shape<3>{8, 8, 8}, box,
                             touched_beyond(Assignment::cic), ForceOptions{});
  EXPECT_EQ(coir::testing::message_of([&] { (void)force.component_window(0); }),
            "components of their own are those of spectral gradients, not of the kernel 1_4");
}

// Of what solve() has made, not of what lies beside it: ghost planes of a density in whole numbers
// look like any number.
TYPED_TEST(RanksForce, KnowsWhetherItIsFinite) {
  TYPES_OF_CASE;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  bool const is_last = world().rank() == world().size() - 1;
  for (auto const kernel : {ForceKernel::naive, ForceKernel::one_four, ForceKernel::three_two})
    for (bool const vectors : {false, true})
      for (bool const spoilt : {false, true}) {
        ForceOptions options;
        options.kernel = kernel;
        options.vectors = vectors;
        Force<Exec, T> force(Exec(), world(), {6, 6, 6}, box,
                             coir::mesh::touched_beyond(Assignment::pcs), options);
        Kokkos::deep_copy(force.memory(), nan);
        Kokkos::deep_copy(force.spectrum(), Kokkos::complex<T>(1, 1));
        if (spoilt && is_last)  // it has the last plane
          Kokkos::deep_copy(Kokkos::subview(force.spectrum(), 0, 0, 1), Kokkos::complex<T>(nan, 0));
        force.solve(1);
        EXPECT_EQ(world().all(force.is_finite()), !spoilt) << name_of(kernel) << vectors;
        if (force.force().size() + force.spectrum().size() > 0 && !spoilt)
          EXPECT_TRUE(force.is_finite()) << name_of(kernel) << vectors;
      }
}

}  // namespace
