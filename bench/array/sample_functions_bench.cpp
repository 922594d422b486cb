// Sorting, scans, statistics, samples and random numbers: see support/functions.hpp.

#include <support/functions.hpp>

#include <coir/array/calculus.hpp>
#include <coir/array/histogram.hpp>
#include <coir/array/interpolation.hpp>
#include <coir/array/nan_reductions.hpp>
#include <coir/array/quantile.hpp>
#include <coir/array/scan.hpp>

namespace coir::bench {

namespace {

random::Key const a_key = random::key(3);

template <class X>
X& filled(X& x) {
  random::fill_uniform(a_key, x);
  return x;
}

[[maybe_unused]] bool const added = add_functions({
    COIR_ROW(8, sort(x)),
    COIR_ROW(16, sort(d)),
    COIR_ROW(16, sort(k)),
    COIR_ROW(8, sort(i)),
    COIR_ROW(8, sort(m, 0)),
    COIR_ROW(8, sort(m, 1)),
    COIR_ROW(8, sort(tall, 1)),
    COIR_ROW(12, argsort(x)),
    COIR_ROW(16, argsort(k)),
    COIR_ROW(12, argsort(m, 0)),
    COIR_ROW(8, unique(x)),
    COIR_ROW(8, unique(k)),
    COIR_ROW(8, unique_counts(k)),
    COIR_ROW(16, searchsorted(sorted, x)),
    COIR_ROW(16, searchsorted(sorted, sorted)),
    COIR_ROW(12, searchsorted(sorted(range(0, 1000)), x)),
    COIR_ROW(8, cumsum(x)),
    COIR_ROW(16, cumsum(d)),
    COIR_ROW(16, cumsum(k)),
    COIR_ROW(8, cumsum(m, 0)),
    COIR_ROW(8, cumsum(m, 1)),
    COIR_ROW(8, cumprod(u)),
    COIR_ROW(8, cumprod(m, 0)),
    COIR_ROW(8, nancumsum(x)),
    COIR_ROW(8, nancumprod(u)),
    COIR_ROW(4, histogram(x, 100, -5, 5)),
    COIR_ROW(4, histogram(x, 100)),
    COIR_ROW(8, histogram(x, 100, -5, 5, weights(u))),
    COIR_ROW(8, bincount(k)),
    COIR_ROW(12, bincount(k, weights(u))),
    COIR_ROW(12, digitize(x, linspace<float, Memory>(-3, 3, 100))),
    COIR_ROW(4, median(x)),
    COIR_ROW(8, median(d)),
    COIR_ROW(4, median(m, 0)),
    COIR_ROW(4, median(m, 1)),
    COIR_ROW(5.3, median(tall, 1)),
    COIR_ROW(4, quantile(x, 0.9)),
    COIR_ROW(4, quantile(x, {0.25, 0.75})),
    COIR_ROW(4, quantile(m, 0.9, 0)),
    COIR_ROW(4, percentile(x, 90)),
    COIR_ROW(4, nanmedian(x)),
    COIR_ROW(4, nanquantile(x, 0.9)),
    COIR_ROW(4, nanpercentile(x, 90)),
    COIR_ROW(8, diff(x)),
    COIR_ROW(8, diff(m, 1, 0)),
    COIR_ROW(8, unwrap(x)),
    COIR_ROW(8, gradient(x, 0.1)),
    COIR_ROW(8, gradient(m, 0.1, 0)),
    COIR_ROW(8, trapezoid(x, sorted)),
    COIR_ROW(4, trapezoid(m, 0.1, 0)),
    COIR_ROW(8,
             interp(x, linspace<float, Memory>(-3, 3, 1000), linspace<float, Memory>(0, 1, 1000))),
    COIR_ROW(4, random::uniform<float, Memory>(a_key, {n})),
    COIR_ROW(8, random::uniform<double, Memory>(a_key, {n})),
    COIR_ROW(4, random::normal<float, Memory>(a_key, {n})),
    COIR_ROW(8, random::normal<double, Memory>(a_key, {n})),
    COIR_ROW(8, random::integers<std::int64_t, Memory>(a_key, {n}, 0, 1000)),
    COIR_ROW(8, random::permutation<Memory>(a_key, n)),
    COIR_ROW(4, filled(out)),
});

}  // namespace

}  // namespace coir::bench
