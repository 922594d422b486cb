#include <coir/mesh/force.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using coir::testing::random_numbers;
using mesh::Force;
using mesh::ForceKernel;
using mesh::Softening;

namespace {

constexpr ForceKernel kernels[] = {
    ForceKernel::naive,     ForceKernel::one_four, ForceKernel::three_four, ForceKernel::five_four,
    ForceKernel::three_two, ForceKernel::eastwood, ForceKernel::gadget};

/// The elements of a mesh of numbers whose rows are padded, in C order.
template <class V>
std::vector<double> numbers_of(V const& mesh) {
  std::vector<double> numbers;
  using T = typename V::value_type;
  auto const rows = static_cast<std::size_t>(mesh.extent(0) * mesh.extent(1));
  std::vector<T> all(rows * mesh.stride(1));
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(all.data(),
                                                                                   all.size()),
      Kokkos::View<T*, typename V::device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          mesh.data(), all.size()));
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t k = 0; k < mesh.extent(2); ++k)
      numbers.push_back(static_cast<double>(all[r * mesh.stride(1) + k]));
  return numbers;
}

template <class V>
void fill(V const& mesh, std::vector<double> const& numbers) {
  using T = typename V::value_type;
  auto const rows = static_cast<std::size_t>(mesh.extent(0) * mesh.extent(1));
  std::vector<T> all(rows * mesh.stride(1));
  for (std::size_t r = 0, c = 0; r < rows; ++r)
    for (std::size_t k = 0; k < mesh.extent(2); ++k)
      all[r * mesh.stride(1) + k] = static_cast<T>(numbers[c++]);
  Kokkos::deep_copy(
      Kokkos::View<T*, typename V::device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          mesh.data(), all.size()),
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(all.data(),
                                                                                   all.size()));
}

}  // namespace

COIR_TYPED_SUITE(ForcePullBack);

// <v, F(n)> = <F^T v, n>
TYPED_TEST(ForcePullBack, IsTheAdjointOfSolve) {
  TYPES_OF_CASE;
  using F = Force<Exec, T>;
  for (Shape<3> const& n : {Shape<3>{1, 1, 1}, Shape<3>{2, 3, 1}, Shape<3>{4, 2, 5},
                            Shape<3>{8, 6, 10}, Shape<3>{7, 9, 13}, Shape<3>{5, 12, 40}})
    for (auto const kernel : kernels)
      for (auto const softening : {Softening::none, Softening::gaussian}) {
        F force(Exec{}, n, 2.0, {.kernel = kernel, .softening = softening});
        auto const density = random_numbers(size_of(n), 1),
                   vectors = random_numbers(3 * size_of(n), 2);
        fill(force.density(), density);
        force.solve(0.7);
        auto const host = Kokkos::create_mirror_view(force.force());
        Kokkos::deep_copy(host, force.force());
        double on_vectors = 0, size = 0;
        for (std::size_t c = 0; c < vectors.size(); ++c) {
          on_vectors += vectors[c] * static_cast<double>(host.data()[c]);
          size += std::abs(vectors[c] * static_cast<double>(host.data()[c]));
          host.data()[c] = static_cast<T>(vectors[c]);
        }
        Kokkos::deep_copy(force.force(), host);
        auto const memory = fft::allocate_in_place<T, typename Exec::memory_space>("memory", n);
        auto const slope = numbers_of(force.pull_back(0.7, memory));
        double on_density = 0;
        for (std::size_t c = 0; c < density.size(); ++c) {
          on_density += slope[c] * density[c];
          size += std::abs(slope[c] * density[c]);
        }
        // Each number goes through two transforms of some 12 levels, differences and a product.
        EXPECT_NEAR(on_vectors, on_density, 20 * std::numeric_limits<T>::epsilon() * size)
            << mesh::name_of(kernel) << " of " << in_words(n);
      }
}

// Whole numbers, component by component, give what vectors give.
TYPED_TEST(ForcePullBack, IsTheSameFromWholeNumbers) {
  TYPES_OF_CASE;
  using F = Force<Exec, T>;
  for (Shape<3> const& n : {Shape<3>{1, 1, 1}, Shape<3>{2, 3, 1}, Shape<3>{4, 2, 5},
                            Shape<3>{7, 9, 13}, Shape<3>{5, 12, 40}})
    for (auto const kernel : {ForceKernel::naive, ForceKernel::one_four, ForceKernel::three_two}) {
      F force(Exec{}, n, 2.0, {.kernel = kernel});
      double const unit = std::ldexp(1.0, -20);
      auto vectors = random_numbers(3 * size_of(n), 2);
      for (auto& number : vectors) number = std::round(number / unit) * unit;
      auto const host = Kokkos::create_mirror_view(force.force());
      for (std::size_t c = 0; c < vectors.size(); ++c) host.data()[c] = static_cast<T>(vectors[c]);
      Kokkos::deep_copy(force.force(), host);
      auto const memory = fft::allocate_in_place<T, Space>("memory", n);
      auto const expected = numbers_of(force.pull_back(0.7, memory));
      Kokkos::View<std::int64_t*, Space> const whole(
          "memory", static_cast<std::size_t>(F::numbers_of_adjoint({}, n, {}, kernel)));
      Kokkos::deep_copy(whole, 1);  // what was there doesn't count
      auto const paint = [&](int d, mesh::CellsWindow<std::int64_t> const& cells) {
        using Numbers = Kokkos::View<std::int64_t*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
        Numbers const component(cells.data, vectors.size() / 3);
        auto const numbers = Kokkos::create_mirror_view(component);
        for (std::size_t c = 0; c < numbers.size(); ++c)
          numbers(c) =
              static_cast<std::int64_t>(vectors[3 * c + static_cast<std::size_t>(d)] / unit);
        Kokkos::deep_copy(component, numbers);
      };
      auto const found = numbers_of(force.pull_back_whole_numbers(0.7, unit, whole, paint));
      // Either goes through half a dozen sums and products, and two transforms of some 12 levels.
      double size = 0;
      for (double const number : expected) size = std::max(size, std::abs(number));
      for (std::size_t c = 0; c < found.size(); ++c)
        ASSERT_NEAR(found[c], expected[c], 60 * std::numeric_limits<T>::epsilon() * size)
            << mesh::name_of(kernel) << " of " << in_words(n);
    }
}

TYPED_TEST(ForcePullBack, NamesWhatIsWrong) {
  TYPES_OF_CASE;
  Shape<3> const n{4, 4, 4};
  auto const memory = fft::allocate_in_place<T, typename Exec::memory_space>("memory", n);
  auto const other =
      fft::allocate_in_place<T, typename Exec::memory_space>("memory", Shape<3>{4, 4, 6});
  Force<Exec, T> force(Exec{}, n, 1.0), lean(Exec{}, n, 1.0, {.vectors = false});
  EXPECT_THROW(force.pull_back(1, other), PreconditionError);
  EXPECT_THROW(lean.pull_back(1, memory), PreconditionError);
  using Numbers = typename Force<Exec, T>::WholeNumbers;
  auto const whole = [](Force<Exec, T>& of, Numbers const& numbers) {
    return coir::testing::message_of(
        [&] { of.pull_back_whole_numbers(1, 1, numbers, [](int, auto const&) {}); });
  };
  EXPECT_EQ(whole(force, Numbers("few", 95)),
            "the adjoint of a force in whole numbers must have 96 of them, not 95");
  EXPECT_NE(whole(lean, Numbers("numbers", 96)).find("needs a mesh of forces"), std::string::npos);
  EXPECT_NE(coir::testing::message_of([&] {
              force.pull_back(1, force.spectrum());
            }).find("memory of its own"),
            std::string::npos);
  auto const turned = coir::testing::allocate<coir::testing::Laid::turned, Kokkos::complex<T>,
                                              typename Exec::memory_space>(Shape<3>{4, 4, 3});
  EXPECT_EQ(coir::testing::message_of([&] { force.pull_back(1, turned); }),
            "the mesh that the adjoint of a force works in must lie in C order without gaps: copy "
            "it to a View of LayoutRight first");
}
