#include <coir/array/all.hpp>
#include <coir/linalg/decompositions.hpp>
#include <coir/linalg/matmul.hpp>

#include <linalg/near.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

using namespace coir;
using coir::testing::expect_near;
using coir::testing::message_of;
using coir::testing::random_matrix;
using coir::testing::values;

template <class Case>
class Decompositions : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;
  using Complex = Kokkos::complex<T>;

  /// Numbers from the unit square.
  static auto complex_matrix(std::int64_t m, std::int64_t n) {
    return evaluate(random_matrix<T, Space>(m, n, 5) +
                    Complex(0, 1) * random_matrix<T, Space>(m, n, 6));
  }
  template <class E>
  static double largest(E const& x) {
    return size_of(x.shape()) == 0 ? 0.0 : static_cast<double>(max(abs(x)));
  }
};
TYPED_TEST_SUITE(Decompositions, coir::testing::Cases, coir::testing::CaseName);

#define TYPES                                                                             \
  using T = typename TestFixture::T;                                                      \
  using Space = typename TestFixture::Space;                                              \
  using Complex [[maybe_unused]] = typename TestFixture::Complex;                         \
  auto const s = array<T, Space>({{4, 2, -2}, {2, 10, 1}, {-2, 1, 6}});                   \
  auto const h =                                                                          \
      array<Complex, Space>({{Complex(3), Complex(1, -1)}, {Complex(1, 1), Complex(5)}}); \
  auto const tall = array<T, Space>({{1, 2}, {3, 4}, {5, 6}})

// Expected numbers are those of numpy.linalg.

TYPED_TEST(Decompositions, Cholesky) {
  TYPES;
  expect_near(cholesky(s), {2, 0, 0, 1, 3, 0, -1, 0.6666666666666666, 2.1343747458109497});
  auto const l = cholesky(h);
  expect_near(real(l), {1.7320508075688772, 0, 0.5773502691896258, 2.0816659994661326});
  expect_near(imag(l), {0, 0, 0.5773502691896258, 0});
  auto lower = copy(s);  // the upper triangle isn't read
  lower(0, range(1, end)) = std::numeric_limits<T>::quiet_NaN();
  expect_near(cholesky(lower)(2, range()), {-1, 0.6666666666666666, 2.1343747458109497});
  EXPECT_EQ(cholesky(zeros<T, Space>({0, 0})).size(), 0);
  EXPECT_EQ(values(cholesky(array<T, Space>({{9}}))), (std::vector<T>{3}));
  EXPECT_EQ(message_of<NumericalError>([&] { cholesky(array<T, Space>({{1, 2}, {2, 1}})); }),
            "the matrix isn't positive definite: its first 2 rows and columns have no positive "
            "determinant");
  EXPECT_THROW(cholesky(tall), PreconditionError);
}

// Matrices whose columns threads share out.
TYPED_TEST(Decompositions, CholeskyOfLargeMatrices) {
  TYPES;
  for (std::int64_t n : {191, 257, 400}) {
    auto const x = coir::testing::random_matrix<T, Space>(n, n, 5);
    auto definite = evaluate(x + transpose(x) + T(4 * n) * eye<T, Space>(n));
    auto const lower = cholesky(definite);
    double const small = 256 * static_cast<double>(n) * std::numeric_limits<T>::epsilon();
    EXPECT_LE(max(abs(matmul(lower, transpose(lower)) - definite)), small);
    EXPECT_EQ(max(abs(where(indices<1>(lower.shape()) > indices<0>(lower.shape()), lower, T(0)))),
              T(0));
    definite(n - 2, n - 2) = T(-1);
    EXPECT_EQ(message_of<NumericalError>([&] { cholesky(definite); }),
              "the matrix isn't positive definite: its first " + std::to_string(n - 1) +
                  " rows and columns have no positive determinant");
  }
}

TYPED_TEST(Decompositions, EigenvaluesOfHermitianMatrices) {
  TYPES;
  auto const [w, v] = eigh(s);
  expect_near(w, {2.1328683008546427, 7.225690673526866, 10.641441025618484});
  expect_near(abs(v), {0.824019678842598, 0.5029513479925866, 0.26082850770684884,  //
                       0.2726153249152128, 0.05159088535501666, 0.9607389162356532,
                       0.4966613066280827, 0.8627736215837416, 0.09460034036809728});
  expect_near(eigvalsh(s), {2.1328683008546427, 7.225690673526866, 10.641441025618484});
  expect_near(eigh(h).values, {2.267949192431122, 5.732050807568875});
  for (std::int64_t n : {1, 2, 33, 100}) {
    double const small = 64 * static_cast<double>(n) * std::numeric_limits<T>::epsilon();
    auto const z = this->complex_matrix(n, n);
    auto const a = evaluate(z + conj(transpose(z)));
    auto const [values, vectors] = eigh(a);
    EXPECT_LE(this->largest(matmul(a, vectors) - vectors * values), small);
    EXPECT_LE(this->largest(matmul(conj(transpose(vectors)), vectors) - eye<T, Space>(n)), small);
    EXPECT_TRUE(all(values(range(0, -1)) <= values(range(1, end))));
  }
  EXPECT_EQ(eigh(zeros<T, Space>({0, 0})).vectors.size(), 0);
  EXPECT_EQ(message_of([&] { eigh(s / T(0)); }),
            "eigh needs finite numbers, and there is a NaN or an infinity");
  EXPECT_EQ(message_of([&] { eigvalsh(tall); }),
            "eigvalsh needs a square matrix, not one of shape (3, 2)");
}

TYPED_TEST(Decompositions, OrthonormalAndTriangularFactors) {
  TYPES;
  auto const [q, r] = qr(tall);
  expect_near(q, {-0.16903085094570325, 0.8970852271450607, -0.50709255283711,  //
                  0.27602622373694136, -0.8451542547285166, -0.34503277967117696});
  expect_near(r, {-5.916079783099616, -7.437357441610946, 0, 0.828078671210825});
  for (auto const [m, n] : {Shape<2>{1, 1}, {7, 3}, {3, 7}, {40, 40}, {0, 3}, {3, 0}}) {
    double const small = 64 * static_cast<double>(m + n) * std::numeric_limits<T>::epsilon();
    auto const a = this->complex_matrix(m, n);
    auto const [left, right] = qr(a);
    EXPECT_EQ(left.shape(), (Shape<2>{m, std::min(m, n)}));
    EXPECT_LE(this->largest(matmul(left, right) - a), small);
    EXPECT_LE(this->largest(matmul(conj(transpose(left)), left) - eye<T, Space>(std::min(m, n))),
              small);
    EXPECT_TRUE(all(
        where(indices<0>(right.shape()) > indices<1>(right.shape()), right == Complex(0), true)));
  }
}

TYPED_TEST(Decompositions, OfStacks) {
  TYPES;
  for (auto const [p, n] : {Shape<2>{3, 5}, {40, 32}, {2, 150}, {0, 3}, {3, 0}}) {
    double const small = 64 * static_cast<double>(n + 1) * std::numeric_limits<T>::epsilon();
    auto const z = evaluate(reshape(this->complex_matrix(p * n, n), {p, n, n}));
    auto const a = evaluate(z + conj(swap_axes(z, 1, 2)));
    auto const definite = evaluate(a + T(4 * n) * eye<T, Space>(n));
    auto const lower = cholesky(definite);
    auto const [values, vectors] = eigh(a);
    auto const only = eigvalsh(a);
    auto const [q, r] = qr(z);
    auto const [u, s, vh] = svd(z, false);
    EXPECT_EQ(values.shape(), (Shape<2>{p, n}));
    EXPECT_EQ(s.shape(), (Shape<2>{p, n}));
    for (std::int64_t i = 0; i < p; i += 13) {
      EXPECT_LE(this->largest(matmul(lower(i), conj(transpose(lower(i)))) - definite(i)),
                4 * small);
      EXPECT_LE(this->largest(matmul(a(i), vectors(i)) - vectors(i) * values(i)), small);
      EXPECT_LE(this->largest(only(i) - values(i)), small);
      EXPECT_LE(this->largest(matmul(q(i), r(i)) - z(i)), small);
      EXPECT_LE(this->largest(matmul(u(i) * s(i), vh(i)) - z(i)), small);
    }
  }
  EXPECT_EQ(message_of<NumericalError>(
                [&] { cholesky(reshape(array<T, Space>({4, 0, 0, 4, -1, 0, 0, 1}), {2, 2, 2})); }),
            "matrix 1 of the stack isn't positive definite: its first 1 row and column have no "
            "positive determinant");
}

TYPED_TEST(Decompositions, SingularValues) {
  TYPES;
  auto const [u, sigma, vh] = svd(tall);
  EXPECT_EQ(u.shape(), (Shape<2>{3, 3}));
  expect_near(sigma, {9.525518091565107, 0.5143005806586443});
  expect_near(abs(vh),
              {0.6196294838293404, 0.7848944532670524, 0.7848944532670524, 0.6196294838293404});
  expect_near(abs(u(0, range())), {0.22984769640007147, 0.8834610176985255, 0.4082482904638627});
  expect_near(svdvals(transpose(tall)), {9.525518091565107, 0.5143005806586443});
  for (auto const [m, n] : {Shape<2>{1, 1}, {7, 3}, {3, 7}, {40, 40}, {200, 140}, {140, 200}}) {
    double const small = 64 * static_cast<double>(m + n) * std::numeric_limits<T>::epsilon();
    auto const a = this->complex_matrix(m, n);
    std::int64_t const k = std::min(m, n);
    auto const thin = svd(a, false), full = svd(a);
    EXPECT_EQ(thin.u.shape(), (Shape<2>{m, k}));
    EXPECT_EQ(thin.vh.shape(), (Shape<2>{k, n}));
    EXPECT_LE(this->largest(matmul(thin.u * thin.s, thin.vh) - a), small);
    EXPECT_LE(this->largest(matmul(conj(transpose(full.u)), full.u) - eye<T, Space>(m)), small);
    EXPECT_LE(this->largest(matmul(full.vh, conj(transpose(full.vh))) - eye<T, Space>(n)), small);
    EXPECT_LE(this->largest(full.s - thin.s), small);
    EXPECT_TRUE(all(thin.s >= 0) && all(thin.s(range(0, -1)) >= thin.s(range(1, end))));
  }
  auto const none = svd(zeros<T, Space>({2, 0}));
  EXPECT_EQ(values(none.u), (std::vector<T>{1, 0, 0, 1}));
  EXPECT_EQ(none.s.size() + none.vh.size(), 0);
  EXPECT_THROW(svd(tall / T(0)), PreconditionError);
  EXPECT_THROW(svdvals(tall / T(0)), PreconditionError);
}
