#include <coir/array/all.hpp>
#include <coir/linalg/matmul.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

using namespace coir;
using coir::testing::message_of;
using coir::testing::Naive;
using coir::testing::naive;
using coir::testing::random_array;
using coir::testing::values;

namespace {

/// a b for stacks of matrices of shapes (s, m, k) and (s, k, n), either s may be 1.
template <class T>
Naive<T> naive_product(Naive<T> const& a, Naive<T> const& b) {
  std::int64_t const s = std::max(a.shape[0], b.shape[0]);
  std::int64_t const m = a.shape[1], n = b.shape[2], inner = a.shape[2];
  Naive<T> c({s, m, n});
  T* out = c.elements.data();
  for (std::int64_t l = 0; l < s; ++l) {
    T const* const x = a.elements.data() + (a.shape[0] == 1 ? 0 : l * m * inner);
    T const* const y = b.elements.data() + (b.shape[0] == 1 ? 0 : l * inner * n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T sum(0);
        for (std::int64_t k = 0; k < inner; ++k) sum += x[i * inner + k] * y[k * n + j];
        *out++ = sum;
      }
  }
  return c;
}

/// With axes of one element added in front.
template <class T>
Naive<T> as_stack(Naive<T> x) {
  while (x.rank() < 3) x.shape.insert(x.shape.begin(), 1);
  return x;
}

/// matmul of matrices or stacks of them against the plain loop. Elements are whole numbers so small
/// that all sums are exact, in any order.
template <class A, class B>
void expect_product_of(A const& a, B const& b, std::string const& what) {
  auto const expected = naive_product(as_stack(naive(a)), as_stack(naive(b)));
  auto const product = matmul(a, b);
  EXPECT_EQ(size_of(product.shape()), static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(product.shape()[product.rank - 1], expected.shape[2]);
  EXPECT_EQ(product.shape()[product.rank - 2], expected.shape[1]);
  EXPECT_EQ(values(product), expected.elements)
      << in_words(a.shape()) << " by " << in_words(b.shape()) << what;
}

/// The same of operands as expressions hold them: arrays and slices that are written or not would
/// be compiled for each pair of them.
template <class A, class B>
void expect_product(A const& a, B const& b, std::string const& what = "") {
  expect_product_of(operand(a), operand(b), what);
}

}  // namespace

template <class Space, class Number>
struct NumberCase {
  using Exec = Space;
  using T = Number;
};

template <class Exec>
using NumbersOn = ::testing::Types<NumberCase<Exec, float>, NumberCase<Exec, double>,
                                   NumberCase<Exec, Kokkos::complex<float>>,
                                   NumberCase<Exec, Kokkos::complex<double>>, NumberCase<Exec, int>,
                                   NumberCase<Exec, std::int64_t>>;

template <class Case>
class Matmul : public ::testing::Test {
 public:
  using T = typename Case::T;
  using Space = typename Case::Exec::memory_space;

  template <class... Extents>
  auto random(Extents... extents) {
    Shape<int(sizeof...(Extents))> const shape{extents...};
    if constexpr (is_complex<T>) {
      using R = real_t<T>;
      auto const re = random_array<R, Kokkos::HostSpace>(shape, ++seed_, 8);
      auto const im = random_array<R, Kokkos::HostSpace>(shape, ++seed_, 8);
      std::vector<T> elements(static_cast<std::size_t>(size_of(shape)));
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = T(re.data()[i], im.data()[i]);
      return coir::testing::array_of<Space>(elements, shape);
    } else {
      return random_array<T, Space>(shape, ++seed_, 8);
    }
  }

 private:
  std::uint32_t seed_ = 0;
};
TYPED_TEST_SUITE(Matmul, NumbersOn<coir::testing::Host>);

template <class Case>
class MatmulOnDevices : public Matmul<Case> {};
TYPED_TEST_SUITE(MatmulOnDevices, NumbersOn<coir::testing::Device>);

// How operands lie: one type of each kind of number, of a product by BLAS and of a plain one.
template <class Case>
class MatmulLayouts : public Matmul<Case> {};
using KindsOfNumbers = ::testing::Types<NumberCase<coir::testing::Host, float>,
                                        NumberCase<coir::testing::Host, Kokkos::complex<double>>,
                                        NumberCase<coir::testing::Host, int>>;
TYPED_TEST_SUITE(MatmulLayouts, KindsOfNumbers);

#define TYPES                        \
  using T = typename TestFixture::T; \
  using Space = typename TestFixture::Space

TYPED_TEST(Matmul, IsThePlainLoop) {
  int const extents[][3] = {{1, 1, 1},    {2, 3, 1},    {1, 5, 4},     {31, 2, 33},
                            {64, 64, 64}, {7, 1009, 3}, {130, 67, 271}};
  for (auto const& [m, k, n] : extents) expect_product(this->random(m, k), this->random(k, n));
}

TYPED_TEST(MatmulOnDevices, IsThePlainLoop) {
  expect_product(this->random(31, 2), this->random(2, 33));
  expect_product(this->random(130, 67), this->random(67, 271));
  expect_product(this->random(50, 3, 4), this->random(50, 4, 5));
  expect_product(this->random(3, 130, 150), this->random(3, 150, 131));
  auto const x = this->random(97, 41);
  expect_product(x, transpose(x));
  expect_product(transpose(x), x);
}

TYPED_TEST(MatmulLayouts, ReadsSlicesWhereTheyLie) {
  auto const a = this->random(20, 30), b = this->random(30, 24);
  auto const wide_a = this->random(40, 70), wide_b = this->random(61, 50);
  auto const padded_a = wide_a(range(3, 23), range(5, 35));
  auto const padded_b = wide_b(range(0, 30), range(9, 33));
  auto const a_t = transpose(this->random(30, 20)), b_t = transpose(this->random(24, 30));
  auto const padded_a_t = transpose(wide_a(range(1, 31), range(0, 20)));
  expect_product(a, b);
  expect_product(a_t, b, " transposed left");
  expect_product(a, b_t, " transposed right");
  expect_product(a_t, b_t, " transposed both");
  expect_product(padded_a, padded_b, " padded");
  expect_product(padded_a_t, padded_b, " padded, transposed");
}

TYPED_TEST(MatmulLayouts, CopiesOtherStrides) {
  auto const a = this->random(40, 60), b = this->random(30, 48);
  auto const back = range(end, end, -1);
  expect_product(a(range(0, end, 2), range(0, end, 2)), b);
  expect_product(a(back, range(0, 30)), b(range(), back));
  expect_product(transpose(a(range(0, 30, 3), back)), b(range(0, 10), range(0, end, 5)));
  // The same row and the same column again and again: strides of 0.
  expect_product(broadcast_to(a(0), Shape<2>{7, 60}), this->random(60, 3));
  expect_product(this->random(3, 4), broadcast_to(b(range(0, 4), range(0, 1)), Shape<2>{4, 9}));
}

TYPED_TEST(MatmulLayouts, EvaluatesExpressions) {
  using T = typename TestFixture::T;
  auto const a = this->random(5, 6), b = this->random(6, 7);
  expect_product(a + a, b * T(2));
}

TYPED_TEST(MatmulLayouts, OfAMatrixAndItsTransposeIsSymmetric) {
  int const extents[][2] = {{1, 1},   {1, 9},   {9, 1},    {31, 33},
                            {32, 64}, {97, 41}, {150, 40}, {200, 3}};
  for (auto const& [m, k] : extents) {
    auto const x = this->random(m, k);
    auto const wide = this->random(m + 3, k + 4);
    auto const padded = wide(range(0, m), range(2, k + 2));
    auto const stepped = wide(range(0, m), range(0, k, 2));
    expect_product(x, transpose(x), " x xT");
    expect_product(transpose(x), x, " xT x");
    expect_product(padded, transpose(padded), " padded");
    expect_product(transpose(padded), padded, " padded, transposed");
    expect_product(stepped, transpose(stepped), " stepped");
  }
  auto const x = this->random(20, 20);  // the same data, and not the transpose
  expect_product(x, x);
}

TYPED_TEST(Matmul, OfMatricesAndVectors) {
  TYPES;
  int const extents[][2] = {{1, 1}, {3, 4}, {2, 513}, {1009, 31}};
  for (auto const& [m, k] : extents) {
    auto const a = this->random(m, k);
    auto const right = this->random(k), left = this->random(m), far = this->random(3 * k);
    auto const column = [](auto const& x) { return x(range(), newaxis); };
    auto const expected = [](auto const& a, auto const& b) {
      return naive_product(as_stack(naive(a)), as_stack(naive(b))).elements;
    };
    auto const product = matmul(a, right);
    static_assert(std::same_as<decltype(product), Array<T, 1, Space> const>);
    EXPECT_EQ(values(product), expected(a, column(right)));
    EXPECT_EQ(values(matmul(left, a)), expected(left(newaxis, range()), a));
    EXPECT_EQ(values(matmul(transpose(a), left)), expected(transpose(a), column(left)));
    EXPECT_EQ(values(matmul(right, transpose(a))), expected(a, column(right)));
    auto const stepped = far(range(end, end, -3));
    EXPECT_EQ(values(matmul(a, stepped)), expected(a, column(stepped)));
    EXPECT_EQ(values(matvec(a, stepped)), expected(a, column(stepped)));
    // Matrices of one column, strided too.
    expect_product(a, column(right));
    expect_product(a, column(far(range(0, end, 3))));
    expect_product(this->random(m, 1), this->random(1, k));
  }
}

TYPED_TEST(MatmulLayouts, OfStacks) {
  int const extents[][4] = {
      {1, 3, 4, 5}, {7, 3, 4, 5}, {513, 2, 2, 2}, {5, 33, 31, 35}, {3, 1, 40, 1}};
  for (auto const& [s, m, k, n] : extents) {
    auto const a = this->random(s, m, k), b = this->random(s, k, n);
    auto const a1 = this->random(1, m, k), b1 = this->random(1, k, n);
    auto const a2 = this->random(m, k), b2 = this->random(k, n);
    expect_product(a, b);
    expect_product(a1, b);
    expect_product(a, b1);
    expect_product(a2, b);
    expect_product(a, b2);
    expect_product(swap_axes(this->random(s, k, m), 1, 2), b, " transposed");
    expect_product(a, swap_axes(this->random(s, n, k), 1, 2), " transposed");
    expect_product(swap_axes(this->random(m, s, k), 0, 1), b2, " interleaved");
    expect_product(flip(a, 0), b, " reversed");
    expect_product(a, transpose(this->random(n, k)), " by a transposed matrix");
  }
}

TYPED_TEST(MatmulLayouts, OfStacksAndVectors) {
  TYPES;
  int const extents[][3] = {{1, 3, 4}, {7, 3, 4}, {513, 2, 2}, {5, 33, 31}, {3, 1, 40}};
  for (auto const& [s, m, k] : extents) {
    auto const a = this->random(s, m, k);
    auto const interleaved = swap_axes(this->random(m, s, k), 0, 1);
    auto const x = this->random(k), wide = this->random(2 * k), y = this->random(m);
    auto const expect = [&](auto const& product, auto const& stack, auto const& one) {
      for (std::int64_t i = 0; i < stack.shape()[0]; ++i)
        EXPECT_EQ(values(product(i)), values(one(stack(i)))) << in_words(stack.shape());
    };
    expect(matmul(a, x), a, [&](auto const& matrix) { return matmul(matrix, x); });
    expect(matmul(interleaved, x), interleaved,
           [&](auto const& matrix) { return matmul(matrix, x); });
    expect(matmul(a, wide(range(0, end, 2))), a,
           [&](auto const& matrix) { return matmul(matrix, wide(range(0, end, 2))); });
    expect(matmul(y, a), a, [&](auto const& matrix) { return matmul(y, matrix); });
    expect(matmul(y, interleaved), interleaved,
           [&](auto const& matrix) { return matmul(y, matrix); });
    auto out = zeros<T, Space>(m, s);
    matmul_into(transpose(out), a, x);
    EXPECT_EQ(values(transpose(out)), values(matmul(a, x)));
  }
  auto const a = this->random(3, 4, 5);
  EXPECT_EQ(values(matmul(a(range(), range(), range(0, 0)), this->random(5)(range(0, 0)))),
            std::vector<T>(12, T(0)));
  EXPECT_EQ(
      message_of([&] { matmul(a, this->random(4)); }),
      "shapes (3, 4, 5) and (4,) don't multiply: the last axis of the first has 5 elements and "
      "the only one of the second 4; they must be equal");
}

// What the result's memory holds before doesn't matter, and no factor of one is multiplied by.
TYPED_TEST(MatmulLayouts, OfSmallMatricesWithInfinitiesAndNaN) {
  TYPES;
  if constexpr (!std::is_integral_v<T>) {
    using R = real_t<T>;
    R const inf = std::numeric_limits<R>::infinity(), nan = std::numeric_limits<R>::quiet_NaN();
    std::vector<T> elements;
    for (R const x : {inf, R(1), R(1), -inf, nan, R(1), R(0), R(2), inf, R(0), R(1), R(3)})
      elements.push_back(T(x));
    Naive<T> const a({3, 2, 2}, elements);
    Naive<T> b({3, 2, 2});
    for (std::size_t i = 0; i < b.size(); ++i) b.elements[i] = T(R(i % 3) + 1);
    auto const expected = naive_product(a, b);
    auto product = full<T, Space>(Shape<3>{3, 2, 2}, T(nan));
    matmul_into(product, coir::testing::array_of<Space>(a.elements, Shape<3>{3, 2, 2}),
                coir::testing::array_of<Space>(b.elements, Shape<3>{3, 2, 2}));
    auto const found = values(product);
    auto const same = [](R x, R y) { return std::isnan(x) ? std::isnan(y) : x == y; };
    for (std::size_t i = 0; i < found.size(); ++i) {
      Kokkos::complex<R> const x(found[i]), y(expected.elements[i]);
      EXPECT_TRUE(same(x.real(), y.real()) && same(x.imag(), y.imag()))
          << x << " in place of " << y << " at " << i;
    }
  }
}

// So long that threads compute parts of it by themselves; the last part is shorter.
TYPED_TEST(MatmulLayouts, OfAVeryLongMatrix) {
  std::int64_t const n = 16 * 1024 + 37;
  auto const x = this->random(n, 4), w = this->random(4, 5), y = this->random(5, 4);
  auto const some = range(0, 3);
  expect_product(x, w);
  expect_product(x, transpose(y));
  expect_product(transpose(w), transpose(x));
  expect_product(y, transpose(x));
  expect_product(x(range(), some), w(some, range()), ", parts of larger ones");
  expect_product(x(range(), range(1, 2)), w(range(1, 2), range(1, 3)), ", inner extent 1");
}

// Large products of which two threads compute a part each. The factors are sums of a number of the
// row and one of the column, so that the product is known.
TEST(MatmulOfReals, OfLargeMatrices) {
  for (Shape<3> const& extents : {Shape<3>{600, 600, 401}, {1025, 300, 512}, {300, 1025, 512}}) {
    auto const [m, n, k] = extents;
    auto const small = [](std::int64_t count, std::int64_t period) {
      return evaluate(cast<float>(arange<std::int64_t>(count) % period));
    };
    auto const rows = small(m, 7), columns = small(n, 5), inner = small(k, 3);
    auto const a = evaluate(rows(range(), newaxis) + inner);
    auto const b = evaluate(inner(range(), newaxis) + columns);
    // sum over k of (r_i + s_k) (s_k + c_j), in whole numbers below 2^24
    float const sums = sum(inner), squares = sum(inner * inner), count = static_cast<float>(k);
    auto const expected = evaluate(rows(range(), newaxis) * sums + squares +
                                   count * rows(range(), newaxis) * columns + sums * columns);
    EXPECT_TRUE(all(matmul(a, b) == expected)) << in_words(extents);
    EXPECT_TRUE(all(matmul(transpose(b), transpose(a)) == transpose(expected)))
        << in_words(extents);
  }
}

TYPED_TEST(MatmulLayouts, OfAMatrixAndManyVectors) {
  int const extents[][3] = {{1, 1, 1}, {10, 15, 7}, {1009, 3, 5}};
  for (auto const& [s, m, k] : extents) {
    auto const w = this->random(m, k), x = this->random(s, k);
    auto const each = this->random(s, m, k);
    auto const product = matvec(w, x), of_each = matvec(each, x),
               stepped = matvec(each, flip(x, 1));
    ASSERT_EQ(product.shape(), (Shape<2>{s, m}));
    for (std::int64_t i = 0; i < s; ++i) {
      ASSERT_EQ(values(product(i)), values(matmul(w, x(i))));
      ASSERT_EQ(values(of_each(i)), values(matmul(each(i), x(i))));
      ASSERT_EQ(values(stepped(i)), values(matmul(each(i), flip(x(i)))));
    }
  }
}

TYPED_TEST(MatmulLayouts, WritesIntoArraysAndSlices) {
  TYPES;
  auto const a = this->random(20, 30), b = this->random(30, 24);
  auto const expected = naive_product(as_stack(naive(a)), as_stack(naive(b))).elements;
  Array<T, 2, Space> out(Shape<2>{20, 24});
  auto const* const memory = out.data();
  matmul_into(out, a, b);
  EXPECT_EQ(values(out), expected);
  EXPECT_EQ(out.data(), memory);

  auto wide = zeros<T, Space>(50, 60);
  matmul_into(wide(range(1, 21), range(2, 26)), a, b);  // padded
  EXPECT_EQ(values(wide(range(1, 21), range(2, 26))), expected);
  wide(range(1, 21), range(2, 26)) = T(0);
  EXPECT_EQ(values(wide), values(zeros<T, Space>(50, 60)));
  matmul_into(transpose(wide(range(0, 24), range(0, 20))), a, b);  // transposed
  EXPECT_EQ(values(transpose(wide(range(0, 24), range(0, 20)))), expected);
  matmul_into(wide(range(0, 40, 2), range(0, 48, 2)), a, b);  // stepped
  EXPECT_EQ(values(wide(range(0, 40, 2), range(0, 48, 2))), expected);
  auto vector = zeros<T, Space>(40);
  matmul_into(vector(range(0, end, 2)), a, b(range(), 3));
  EXPECT_EQ(values(vector(range(0, end, 2))), values(matmul(a, b(range(), 3))));
}

TYPED_TEST(MatmulLayouts, MayWriteOverItsFactors) {
  auto const first = this->random(30, 30), second = this->random(30, 30);
  auto const expected = naive_product(as_stack(naive(first)), as_stack(naive(second))).elements;
  auto a = copy(first), b = copy(second);
  matmul_into(a, a, second);
  EXPECT_EQ(values(a), expected);
  matmul_into(b, first, b);
  EXPECT_EQ(values(b), expected);
}

// By BLAS (a matrix by another and by a vector, and by its own transpose), by the plain kernel (a
// stack of small ones), with a temporary; 70 runs, some submitted together and some alone. Powers
// of a permutation stay exact.
TYPED_TEST(MatmulLayouts, CanBeRecorded) {
  TYPES;
  std::int64_t const n = 24;
  auto const shift = Array<T, 2, Space>(roll(eye<T, Space>(n), 5, 1));
  auto const start = this->random(n, n);
  auto m = copy(start), next = copy(start), square = copy(start);
  auto v = Array<T, 1, Space>(start(0)), w = copy(v);
  auto const stack = reshape(copy(start), Shape<3>{n * n / 4, 2, 2});
  auto stacks = copy(stack);
  auto const swap = Array<T, 2, Space>(flip(eye<T, Space>(2), 0));
  auto const steps = record<Space>([&] {
    matmul_into(next, shift, m);
    m = next;
    w = matvec(shift, v);
    v = w;
    matmul_into(square, shift, transpose(shift));
    matmul_into(stacks, stack, swap);
    stack = stacks;
  });
  EXPECT_EQ(values(m), values(start));  // nothing has run yet
  int done = 0;
  for (int times : {1, 70}) {
    steps.run(times);
    done += times;
    auto const shifted = roll(start, -5 * done % n, 0);
    EXPECT_EQ(values(m), values(shifted));
    EXPECT_EQ(values(v), values(roll(start(0), -5 * done % n)));
    EXPECT_EQ(values(square), values(eye<T, Space>(n)));
    auto const pairs = reshape(copy(start), Shape<3>{n * n / 4, 2, 2});
    EXPECT_EQ(values(stack), done % 2 == 1 ? values(flip(pairs, 2)) : values(pairs));
  }
}

TYPED_TEST(MatmulLayouts, EmptyFactorsGiveZerosOrNothing) {
  TYPES;
  EXPECT_EQ(matmul(zeros<T, Space>(0, 3), zeros<T, Space>(3, 4)).shape(), (Shape<2>{0, 4}));
  EXPECT_EQ(matmul(zeros<T, Space>(2, 3), zeros<T, Space>(3, 0)).shape(), (Shape<2>{2, 0}));
  EXPECT_EQ(values(matmul(zeros<T, Space>(2, 0), zeros<T, Space>(0, 3))), std::vector<T>(6, T(0)));
  EXPECT_EQ(values(matmul(zeros<T, Space>(2, 0), zeros<T, Space>(0))), std::vector<T>(2, T(0)));
  EXPECT_EQ(values(matmul(zeros<T, Space>(2, 3, 0), zeros<T, Space>(2, 0, 1))),
            std::vector<T>(6, T(0)));
  EXPECT_EQ(matmul(zeros<T, Space>(0, 2, 3), zeros<T, Space>(3, 4)).shape(), (Shape<3>{0, 2, 4}));
  EXPECT_EQ(values(matvec(zeros<T, Space>(2, 3, 0), zeros<T, Space>(2, 0))),
            std::vector<T>(6, T(0)));
  auto ones_before = ones<T, Space>(2, 3);
  matmul_into(ones_before, zeros<T, Space>(2, 0), zeros<T, Space>(0, 3));
  EXPECT_EQ(values(ones_before), std::vector<T>(6, T(0)));
}

TYPED_TEST(MatmulLayouts, ErrorsNameBothShapes) {
  TYPES;
  auto const expect_named = [](std::string const& text, auto... parts) {
    std::string const all[] = {parts...};
    for (auto const& part : all)
      EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
  };
  auto const z = [](auto... extents) { return zeros<T, Space>(extents...); };
  expect_named(message_of([&] { matmul(z(2, 3), z(4, 5)); }), "(2, 3)", "(4, 5)", "3", "4");
  expect_named(message_of([&] { matmul(z(3), z(4, 5)); }), "(3,)", "(4, 5)");
  expect_named(message_of([&] { matmul(z(2, 3), z(4)); }), "(2, 3)", "(4,)");
  expect_named(message_of([&] { matmul(z(6, 2, 3), z(7, 3, 2)); }), "(6, 2, 3)", "(7, 3, 2)");
  expect_named(message_of([&] { matvec(z(2, 3), z(3, 4)); }), "(2, 3)", "(3, 4)");
  expect_named(message_of([&] { matvec(z(5, 2, 3), z(6, 3)); }), "(5, 2, 3)", "(6, 3)");
  auto out = z(3, 3);
  expect_named(message_of([&] { matmul_into(out, z(2, 3), z(3, 4)); }), "(2, 4)", "(3, 3)");
  Array<T, 2, Space> none;
  message_of([&] { matmul(none, z(3, 4)); });
}

TYPED_TEST(MatmulLayouts, ManySmallRandomShapes) {
  std::mt19937 generator(7);
  auto const pick = [&](int most) { return static_cast<int>(generator() % most); };
  for (int trial = 0; trial < 60; ++trial) {
    int const m = pick(20), k = pick(20), n = pick(20), s = 1 + pick(4);
    auto const a = this->random(2 * m + 1, 3 * k + 1);
    auto const b = this->random(s, k, n);
    int const step = 1 + pick(3);
    auto const part = a(range(1, 1 + m), range(0, step * k, step));
    expect_product(part, b);
    expect_product(part, b(0));
  }
}

// |fl(a b) - a b| <= k eps |a| |b| for any order of the sum (Higham, Accuracy and Stability of
// Numerical Algorithms, 2002, sec. 3.5), and here |a|, |b| <= 1.
TEST(MatmulOfReals, IsAccurate) {
  std::int64_t const n = 300;
  auto const i = indices<0>(Shape<2>{n, n});
  auto const j = indices<1>(Shape<2>{n, n});
  Array<float, 2> const a = cast<float>(sin(cast<double>(i * 3 + j))),
                        b = cast<float>(cos(cast<double>(i - 2 * j)));
  Array<double, 2> const exact = matmul(cast<double>(a), cast<double>(b));
  EXPECT_LE(max(abs(cast<double>(matmul(a, b)) - exact)),
            double(n) * n * std::numeric_limits<float>::epsilon());
}

TEST(MatmulOfDifferentTypes, Promotes) {
  auto const i = full<int>(Shape<2>{2, 2}, 3);
  auto const f = full<float>(Shape<2>{2, 2}, 0.5);
  auto const d = full<double>(Shape<2>{2, 2}, 0.1);
  static_assert(std::same_as<decltype(matmul(i, f)), Array<float, 2>>);
  static_assert(std::same_as<decltype(matmul(f, d)), Array<double, 2>>);
  EXPECT_EQ(values(matmul(i, f)), std::vector<float>(4, 3));
  EXPECT_DOUBLE_EQ(values(matmul(f, d))[0], 0.1);
  auto const t = full<bool>(Shape<2>{2, 2}, true);
  EXPECT_EQ(values(matmul(t, t)), std::vector<int>(4, 2));
  auto out = zeros<double>(2, 2);
  matmul_into(out, i, f);
  EXPECT_EQ(values(out), std::vector<double>(4, 3));
}

TEST(MatmulOfSomethingElse, DoesNotCompile) {
  using V = Array<double, 1>;
  using S = Array<double, 3>;
  static_assert(!detail::Multipliable<V, V>);  // there is dot
  static_assert(!detail::Multipliable<Array<double, 4>, S>);
  static_assert(!detail::Multipliable<Array<double, 4>, V>);
  static_assert(detail::Multipliable<S, S>);
}
