#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/readout.hpp>

#include <mesh/plain_cells.hpp>
#include <mesh/plain_mesh.hpp>
#include <support/held_memory.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <complex>
#include <numbers>
#include <type_traits>
#include <utility>

using namespace coir;
using namespace coir::testing;
using mesh::Force;
using mesh::ForceKernel;
using mesh::ForceOptions;
using mesh::Softening;

namespace {

constexpr ForceKernel kernels[] = {
    ForceKernel::naive,     ForceKernel::one_four, ForceKernel::three_four, ForceKernel::five_four,
    ForceKernel::three_two, ForceKernel::eastwood, ForceKernel::gadget};
constexpr Softening softenings[] = {Softening::none, Softening::two_thirds, Softening::gaussian,
                                    Softening::gadget, Softening::steep};

/// Puts numbers on the mesh of a force, whatever memory it lies in.
template <class F>
void set_density(F const& force, std::vector<double> const& numbers) {
  auto const density = force.density();
  auto const spectrum = Kokkos::create_mirror_view(force.spectrum());
  auto const n = force.shape();
  auto const row = 2 * (n[2] / 2 + 1);
  using T = typename F::Vectors::value_type;
  T* const data = reinterpret_cast<T*>(spectrum.data());
  for (std::int64_t i = 0; i < n[0]; ++i)
    for (std::int64_t j = 0; j < n[1]; ++j)
      for (std::int64_t k = 0; k < n[2]; ++k)
        data[(i * n[1] + j) * row + k] = static_cast<T>(numbers[(i * n[1] + j) * n[2] + k]);
  Kokkos::deep_copy(force.spectrum(), spectrum);
}

/// The force by a plain Fourier sum over all modes, in double: what the table of force_kernel.hpp
/// says.
std::vector<double> plain_force(std::vector<double> const& density, Extents const& n, double box,
                                ForceOptions const& o, double scale) {
  using Complex = std::complex<double>;
  using std::numbers::pi;
  std::int64_t const cells = n[0] * n[1] * n[2];
  std::vector<double> force(static_cast<std::size_t>(3 * cells));
  std::vector<Complex> wave[3];
  for (int d = 0; d < 3; ++d)
    for (std::int64_t i = 0; i < n[d]; ++i) wave[d].push_back(std::polar(1.0, 2 * pi * i / n[d]));
  auto const phase = [&](int d, std::int64_t a, std::int64_t b) { return wave[d][a * b % n[d]]; };
  for (std::int64_t p = 0; p < n[0]; ++p)
    for (std::int64_t q = 0; q < n[1]; ++q)
      for (std::int64_t r = 0; r < n[2]; ++r) {
        std::int64_t const index[3] = {p, q, r};
        double k[3], w[3], laplacian = 0, square = 0, window = 1;
        Complex gradient[3];
        for (int d = 0; d < 3; ++d) {
          bool const nyquist = 2 * index[d] == n[d];
          double const h = box / n[d];
          k[d] = 2 * pi / box * (2 * index[d] <= n[d] ? index[d] : index[d] - n[d]);
          w[d] = k[d] * h;
          double const half = sinc(w[d] / 2), whole = sinc(w[d]);
          switch (laplacian_points(o.kernel)) {
            case 3: laplacian += k[d] * k[d] * half * half; break;
            case 5: laplacian += k[d] * k[d] * (4.0 / 3 * half * half - whole * whole / 3); break;
            default: laplacian += k[d] * k[d];
          }
          square += k[d] * k[d];
          if (compensates_window(o.kernel)) window /= std::pow(half, 4);
          switch (gradient_points(o.kernel)) {
            case 0: gradient[d] = nyquist ? 0 : Complex(0, k[d]); break;
            case 2: gradient[d] = Complex(0, nyquist ? 0 : std::sin(w[d]) / h); break;
            default:
              gradient[d] =
                  Complex(0, nyquist ? 0 : (8 * std::sin(w[d]) - std::sin(2 * w[d])) / (6 * h));
          }
        }
        if (square == 0) continue;
        double const ny = pi * n[0] / box,
                     r0 = box / n[0] * (o.softening == Softening::gadget ? 1.25 * std::sqrt(2) : 1);
        double soft = 1;
        if (o.softening == Softening::two_thirds)
          soft = std::sqrt(square) < (2.0 / 3 - 1e-5) * ny ? 1 : 0;
        if (o.softening == Softening::gaussian || o.softening == Softening::gadget)
          soft = std::exp(-square * r0 * r0 / 2);
        if (o.softening == Softening::steep)
          soft = std::exp(-36 * std::pow(square / (ny * ny), 18));
        Complex mode = 0;
        for (std::int64_t i = 0; i < n[0]; ++i)
          for (std::int64_t j = 0; j < n[1]; ++j)
            for (std::int64_t l = 0; l < n[2]; ++l)
              mode += density[(i * n[1] + j) * n[2] + l] *
                      std::conj(phase(0, p, i) * phase(1, q, j) * phase(2, r, l));
        Complex const potential = -scale * window * soft / laplacian * mode / double(cells);
        for (std::int64_t i = 0; i < n[0]; ++i)
          for (std::int64_t j = 0; j < n[1]; ++j)
            for (std::int64_t l = 0; l < n[2]; ++l) {
              Complex const there = potential * phase(0, p, i) * phase(1, q, j) * phase(2, r, l);
              for (int d = 0; d < 3; ++d)
                force[((i * n[1] + j) * n[2] + l) * 3 + d] -= (gradient[d] * there).real();
            }
      }
  return force;
}

/// Numbers from 0 to 2, as of a density.
std::vector<double> random_density(std::int64_t cells, unsigned seed) {
  return coir::testing::random_numbers(cells, seed, 0, 2);
}

double largest(std::vector<double> const& values) {
  double size = 0;
  for (double const value : values) size = std::max(size, std::abs(value));
  return size;
}

}  // namespace

COIR_TYPED_SUITE(Forces);

// Two ways to the same force: the library takes differences of the potential, the plain sum
// multiplies modes by them.
TYPED_TEST(Forces, AreThePlainFourierSumForEveryKernel) {
  TYPES_OF_CASE;
  double const box = 3, scale = 0.7;
  for (Extents const& n :
       {Extents{6, 6, 6}, Extents{5, 5, 5}, Extents{4, 6, 3}, Extents{1, 2, 7},
        // Vectors are written over the potential they are made from part by part.
        Extents{9, 1, 1}, Extents{14, 3, 2}, Extents{37, 2, 3}, Extents{64, 1, 4}}) {
    auto const density = random_density(n[0] * n[1] * n[2], 3);
    for (auto const kernel : kernels) {
      Force<Exec, T> force(Exec{}, n, box, {.kernel = kernel});
      set_density(force, density);
      force.solve(scale);
      auto const computed = elements(force.force());
      auto const expected = plain_force(density, n, box, {.kernel = kernel}, scale);
      // Transforms of some 200 numbers, divided by the smallest eigenvalue and multiplied by the
      // largest slope: each rounds by less than 4 eps of the largest force.
      double const tolerance = 64 * std::numeric_limits<T>::epsilon() * (largest(expected) + 1e-3);
      for (std::size_t c = 0; c < expected.size(); ++c)
        ASSERT_NEAR(computed[c], expected[c], tolerance)
            << name_of(kernel) << " " << n[0] << "x" << n[1] << "x" << n[2];
    }
  }
}

TYPED_TEST(Forces, AreSoftened) {
  TYPES_OF_CASE;
  Extents const n{6, 6, 6};
  auto const density = random_density(216, 4);
  for (auto const softening : softenings)
    for (auto const kernel : {ForceKernel::one_four, ForceKernel::eastwood}) {
      ForceOptions const options{kernel, softening};
      Force<Exec, T> force(Exec{}, n, 2.0, options);
      set_density(force, density);
      force.solve(1.0);
      auto const computed = elements(force.force());
      auto const expected = plain_force(density, n, 2.0, options, 1.0);
      for (std::size_t c = 0; c < expected.size(); ++c)
        ASSERT_NEAR(computed[c], expected[c],
                    64 * std::numeric_limits<T>::epsilon() * (largest(expected) + 1e-3))
            << name_of(softening);
    }
}

// What particles exert on each other adds up to nothing, with the same assignment both ways.
TYPED_TEST(Forces, KeepTheMomentum) {
  TYPES_OF_CASE;
  std::int64_t const count = 2000;
  auto const x = to_view<Exec, T>(scattered(count, 1.0, 21));
  coir::testing::VectorsOf<Exec, T> const at("force", count);
  for (auto const kernel : kernels)
    for (auto const assignment : coir::testing::assignments) {
      Force<Exec, T> force(Exec{}, {12, 12, 12}, 1.0, {.kernel = kernel});
      mesh::paint(Exec{}, x, 1.0, force.density(), {.assignment = assignment});
      force.solve(1.0);
      mesh::readout(Exec{}, x, 1.0, force.force(), at, assignment);
      double total[3] = {}, size = 0;
      auto const f = elements(at);
      for (std::size_t c = 0; c < f.size(); ++c) {
        total[c % 3] += f[c];
        size += std::abs(f[c]);
      }
      for (double const sum : total)
        EXPECT_NEAR(sum, 0, 4 * std::numeric_limits<T>::epsilon() * size) << name_of(kernel);
    }
}

TYPED_TEST(Forces, WithoutAMeshOfVectorsLeaveTheirPotential) {
  TYPES_OF_CASE;
  Extents const n{12, 5, 6};
  double const box = 3;
  auto const density = random_density(n[0] * n[1] * n[2], 5);
  for (auto const kernel : kernels) {
    Force<Exec, T> with(Exec{}, n, box, {.kernel = kernel});
    Force<Exec, T> without(Exec{}, n, box, {.kernel = kernel, .vectors = false});
    EXPECT_EQ(without.force().size(), 0u);
    for (auto* force : {&with, &without}) {
      set_density(*force, density);
      force->solve(0.7);
    }
    auto const made = elements(with.force());
    std::vector<double> const expected(made.begin(), made.end());
    double const tolerance = 64 * std::numeric_limits<T>::epsilon() * (largest(expected) + 1e-3);
    auto const numbers = [&](auto const& field) {  // without the padding of its rows
      Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace> const host("host", n[0], n[1],
                                                                            n[2] + 2);
      Kokkos::View<T const***, Kokkos::LayoutRight, typename Exec::memory_space,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>> const padded(field.data(), n[0], n[1],
                                                                         n[2] + 2);
      Kokkos::deep_copy(host, padded);
      return host;
    };
    if (mesh::gradient_points(kernel) == 0) {
      for (int d = 0; d < 3; ++d) {
        auto const component = numbers(without.component(d));
        for (std::int64_t c = 0; c < n[0] * n[1] * n[2]; ++c)
          ASSERT_NEAR(component(c / (n[1] * n[2]), c / n[2] % n[1], c % n[2]), expected[3 * c + d],
                      tolerance)
              << name_of(kernel);
      }
      EXPECT_THROW(without.component(3), PreconditionError);
      EXPECT_THROW(without.component(-1), PreconditionError);
      continue;
    }
    EXPECT_THROW(without.component(0), PreconditionError);
    auto const potential = numbers(without.density());
    double const cell = box / static_cast<double>(n[0]);
    for (std::int64_t i = 0; i < n[0]; ++i) {  // along one axis, at one place of the others
      auto const at = [&](std::int64_t shift) -> double {
        return potential((i + shift + n[0]) % n[0], 2, 3);
      };
      double const slope = mesh::gradient_points(kernel) == 2
                               ? (at(-1) - at(1)) / (2 * cell)
                               : (8 * (at(-1) - at(1)) - (at(-2) - at(2))) / (12 * cell);
      ASSERT_NEAR(slope, expected[3 * ((i * n[1] + 2) * n[2] + 3)], tolerance) << name_of(kernel);
    }
  }
}

TYPED_TEST(Forces, SayWhatMemoryTheyTake) {
  TYPES_OF_CASE;
  Extents const n{24, 16, 20};
  std::int64_t const mesh = 24 * 16 * 20 * static_cast<std::int64_t>(sizeof(T)),
                     padding = mesh / 10;
  fft::PlanOptions const plan{.in_place = true};
  std::int64_t const work = fft::RealPlan<Exec, T, 3>::work_bytes(Exec{}, n, 1, plan);
  auto const meshes = [&](ForceKernel kernel, bool vectors) {
    ForceOptions const options{.kernel = kernel, .vectors = vectors};
    std::int64_t const bytes = Force<Exec, T>::bytes(Exec{}, {}, n, {}, options) - work;
    coir::testing::HeldMemory const held;
    Force<Exec, T> const force(Exec{}, n, 1.0, options);
    EXPECT_LE(std::abs(held.now() - bytes - work), work + (1 << 14)) << name_of(kernel);
    return bytes;
  };
  // Copies of sixteen planes of 24, whose rows are padded, beside three meshes.
  EXPECT_NEAR(meshes(ForceKernel::one_four, true), 3.73 * mesh, padding);
  EXPECT_NEAR(meshes(ForceKernel::one_four, false), mesh, padding);
  EXPECT_NEAR(meshes(ForceKernel::naive, true), 5 * mesh, 2 * padding);
  EXPECT_NEAR(meshes(ForceKernel::naive, false), 2 * mesh, 2 * padding);
}

TYPED_TEST(Forces, AreMadeAgainOfWhatWasKept) {
  TYPES_OF_CASE;
  for (Extents const& n : {Extents{1, 1, 1}, Extents{5, 4, 7}, Extents{12, 5, 6}})
    for (auto const kernel : kernels) {
      ForceOptions const options{.kernel = kernel, .effort = fft::Effort::estimate};
      Force<Exec, T> force(Exec{}, n, 3.0, options), plain(Exec{}, n, 3.0, options);
      auto const kept = fft::allocate_in_place<T, typename Exec::memory_space>("kept", n);
      auto const density = random_density(n[0] * n[1] * n[2], 5);
      set_density(force, density);
      set_density(plain, density);
      plain.solve(0.7);
      auto const expected = elements(plain.force());
      force.solve(0.7, kept);
      EXPECT_EQ(elements(force.force()), expected) << name_of(kernel);
      set_density(force, random_density(n[0] * n[1] * n[2], 6));
      force.solve_again(kept);
      EXPECT_EQ(elements(force.force()), expected) << name_of(kernel);
      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride, typename Exec::memory_space> const
          with_strides(kept);
      set_density(force, random_density(n[0] * n[1] * n[2], 6));
      force.solve_again(with_strides);
      EXPECT_EQ(elements(force.force()), expected) << name_of(kernel);
    }
}

TYPED_TEST(Forces, AreMovedAndNotCopied) {
  TYPES_OF_CASE;
  using F = Force<Exec, T>;
  static_assert(!std::is_copy_constructible_v<F> && !std::is_copy_assignable_v<F>);
  ForceOptions const options{.effort = fft::Effort::estimate};
  auto const density = random_density(5 * 4 * 7, 5);
  F first(Exec{}, {5, 4, 7}, 3.0, options), plain(Exec{}, {5, 4, 7}, 3.0, options),
      last(Exec{}, {2, 2, 2}, 1.0);
  set_density(first, density);
  set_density(plain, density);
  F second(std::move(first));
  second.solve(0.7);
  plain.solve(0.7);
  EXPECT_EQ(elements(second.force()), elements(plain.force()));
  last = std::move(second);
  set_density(last, density);
  last.solve(0.7);
  EXPECT_EQ(elements(last.force()), elements(plain.force()));
}

TYPED_TEST(Forces, NameWhatIsWrong) {
  TYPES_OF_CASE;
  using F = Force<Exec, T>;
  EXPECT_THROW(F(Exec{}, {0, 4, 4}, 1.0), PreconditionError);
  EXPECT_THROW(F(Exec{}, {4, 4, 4}, 0.0), PreconditionError);
  EXPECT_THROW(F(Exec{}, {4, 4, 4}, std::nan("")), PreconditionError);
  EXPECT_THROW(F(Exec{}, {1 << 20, 1 << 20, 1 << 10}, 1.0), ResourceError);
  F force(Exec{}, {4, 4, 4}, 1.0);
  auto const other =
      fft::allocate_in_place<T, typename Exec::memory_space>("kept", Shape<3>{4, 6, 4});
  EXPECT_EQ(
      message_of([&] { force.solve(1, other); }),
      "the mesh that a potential is kept in must have the spectrum's 4 modes along axis 1, not 6");
  EXPECT_THROW(force.solve_again(other), PreconditionError);
  for (bool again : {false, true})
    EXPECT_EQ(
        message_of([&] {
          again ? force.solve_again(force.spectrum()) : force.solve(1, force.spectrum());
        }),
        "the mesh that a potential is kept in must have memory of its own, not that of the force");
  EXPECT_THROW(force.component(0), PreconditionError);
  auto const turned = coir::testing::allocate<coir::testing::Laid::turned, Kokkos::complex<T>,
                                              typename Exec::memory_space>(Shape<3>{4, 4, 3});
  for (bool again : {false, true})
    EXPECT_EQ(message_of([&] { again ? force.solve_again(turned) : force.solve(1, turned); }),
              "the mesh that a potential is kept in must lie in C order without gaps: copy it to a "
              "View of LayoutRight first");
}

TEST(ForceKernels, AreKnownByName) {
  for (auto const kernel : kernels) EXPECT_EQ(mesh::force_kernel_named(name_of(kernel)), kernel);
  for (auto const softening : softenings)
    EXPECT_EQ(mesh::softening_named(name_of(softening)), softening);
  EXPECT_EQ(name_of(ForceKernel::three_four), "3_4");
  EXPECT_THROW(mesh::force_kernel_named("2_2"), PreconditionError);
  EXPECT_THROW(mesh::softening_named("soft"), PreconditionError);
}
