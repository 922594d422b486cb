// Products of matrices, equations and decompositions: see support/functions.hpp. Of all but the
// plain products arithmetic is the limit, not memory.

#include <support/functions.hpp>

#include <coir/array/axes.hpp>
#include <coir/linalg/covariance.hpp>
#include <coir/linalg/decompositions.hpp>
#include <coir/linalg/einsum.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/matrix_norm.hpp>
#include <coir/linalg/outer.hpp>
#include <coir/linalg/row_functions.hpp>
#include <coir/linalg/solve.hpp>

namespace coir::bench {

namespace {

/// The first count matrices of m x n that a vector holds, or as many as it holds.
template <class V>
auto stack_of(V const& x, std::int64_t m, std::int64_t n) {
  std::int64_t const count = x.size() / (m * n);
  return reshape(x(range(0, count * m * n)), {count, m, n});
}

/// As many vectors as stack_of(x, n, n) has matrices.
template <class V>
auto vectors_of(V const& x, std::int64_t n) {
  std::int64_t const count = x.size() / (n * n);
  return reshape(x(range(0, count * n)), {count, n});
}

template <class C, class A, class B>
C& product_into(C& c, A const& a, B const& b) {
  matmul_into(c, a, b);
  return c;
}

[[maybe_unused]] bool const added = add_functions({
    COIR_ROW(0, matmul(m, m)),
    COIR_ROW(4, vmap(NormOfRows{})(rows)),
    COIR_ROW(8, vmap(DotOfRows{})(rows, rows)),
    COIR_ROW(0, vmap(vmap(DotOfRows{}, in_axes(unmapped, 0)), in_axes(0, unmapped))(m, product)),
    COIR_ROW(0, matmul(m, transpose(m))),
    COIR_ROW(0, matmul(spd, spd)),
    COIR_ROW(4, matmul(m, x(range(0, side)))),
    COIR_ROW(4, matmul(x(range(0, side)), m)),
    COIR_ROW(4, matmul(transpose(tall), tall)),
    COIR_ROW(8, matmul(tall, m(range(0, 3), range(0, 3)))),
    COIR_ROW(0, matmul(stack_of(x, 4, 4), stack_of(y, 4, 4))),
    COIR_ROW(0, matmul(stack_of(x, 16, 16), stack_of(y, 16, 16))),
    COIR_ROW(0, matmul(stack_of(d, 16, 16), stack_of(d, 16, 16))),
    COIR_ROW(0, product_into(product, m, m)),
    COIR_ROW(4, matvec(m, x(range(0, side)))),
    COIR_ROW(4, outer(x(range(0, side)), y(range(0, side)))),
    COIR_ROW(4, matrix_norm(m, MatrixNorm::one)),
    COIR_ROW(0, einsum<"ij,kj->ik">(m, m)),
    COIR_ROW(4, einsum<"ij,ij->i">(tall, tall)),
    COIR_ROW(4, einsum<"ij->j">(m)),
    COIR_ROW(4, einsum<"bij,bj->bi">(stack_of(x, 16, 16), vectors_of(y, 16))),
    COIR_ROW(4, cov(transpose(tall))),
    COIR_ROW(4, corrcoef(transpose(tall))),
    COIR_ROW_UP_TO(1'000'000, 0, solve(spd, d(range(0, side)))),
    COIR_ROW(0, solve(stack_of(d, 32, 32), expand_dims(vectors_of(d, 32), 2))),
    COIR_ROW_UP_TO(1'000'000, 0, inv(spd)),
    COIR_ROW_UP_TO(1'000'000, 0, det(spd)),
    COIR_ROW_UP_TO(100'000, 0, lstsq(spd, d(range(0, side)))),
    COIR_ROW_UP_TO(1'000'000, 0, cholesky(spd)),
    COIR_ROW_UP_TO(1'000'000, 0, qr(spd)),
    COIR_ROW_UP_TO(100'000, 0, eigh(spd)),
    COIR_ROW_UP_TO(100'000, 0, eigvalsh(spd)),
    COIR_ROW_UP_TO(100'000, 0, svd(spd, false)),
    COIR_ROW_UP_TO(100'000, 0, svdvals(spd)),
});

}  // namespace

}  // namespace coir::bench
