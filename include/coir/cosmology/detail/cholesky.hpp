#pragma once

#include <coir/cosmology/detail/plain.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace coir::cosmology::detail {

/// The Cholesky factor L of a symmetric matrix A = L L^T. Numbers may be duals, unlike LAPACK's.
/// Matrices are in C order. Only the lower triangle of A is read.
template <class T>
class Cholesky {
 public:
  Cholesky(std::size_t n, std::vector<T> a) : n_(n), l_(std::move(a)) {
    for (std::size_t i = 0; i < n_ && positive_; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        T const rest = at(i, j) - dot(&at(i, 0), &at(j, 0), j);
        if (j < i) {
          at(i, j) = rest / at(j, j);
          continue;
        }
        positive_ = plain(rest) > 0 && std::isfinite(plain(rest));
        if (!positive_) break;
        using std::sqrt;
        at(i, i) = sqrt(rest);
      }
  }

  /// Whether A is positive definite. If it isn't, no other function may be called.
  bool positive() const { return positive_; }

  T log_determinant() const {
    using std::log;
    T sum(0);
    for (std::size_t i = 0; i < n_; ++i) sum += log(at(i, i));
    return 2 * sum;
  }

  /// x = L^-1 x for the vector of the n numbers x, x + stride, ...
  template <class V>
  void solve_lower(V* x, std::size_t stride = 1) const {
    for (std::size_t i = 0; i < n_; ++i) {
      V sum = x[i * stride];
      for (std::size_t j = 0; j < i; ++j) sum -= at(i, j) * x[j * stride];
      x[i * stride] = sum / at(i, i);
    }
  }

  /// L^-1 for numbers that aren't duals; the upper triangle is 0.
  std::vector<T> inverse() const {
    std::vector<T> result(n_ * n_, T(0));
    for (std::size_t j = 0; j < n_; ++j) {
      result[j * n_ + j] = T(1);
      solve_lower(&result[j], n_);
    }
    return result;
  }

  /// The matrix L^-1 R L^-T for a symmetric R.
  template <class V>
  void whiten(std::vector<V>& r) const {
    for (std::size_t j = 0; j < n_; ++j) solve_lower(&r[j], n_);
    for (std::size_t i = 0; i < n_; ++i) solve_lower(&r[i * n_], 1);
  }

 private:
  T& at(std::size_t i, std::size_t j) { return l_[i * n_ + j]; }
  T const& at(std::size_t i, std::size_t j) const { return l_[i * n_ + j]; }

  /// In eight sums, so that compilers vectorise it.
  static T dot(T const* a, T const* b, std::size_t count) {
    constexpr std::size_t wide = 8;
    T sums[wide];
    for (T& sum : sums) sum = T(0);
    std::size_t k = 0;
    for (; k + wide <= count; k += wide)
      for (std::size_t s = 0; s < wide; ++s) sums[s] += a[k + s] * b[k + s];
    T sum(0);
    for (; k < count; ++k) sum += a[k] * b[k];
    for (T const& part : sums) sum += part;
    return sum;
  }

  std::size_t n_;
  std::vector<T> l_;
  bool positive_ = true;
};

}  // namespace coir::cosmology::detail
