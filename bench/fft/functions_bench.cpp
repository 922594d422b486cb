// NumPy's and SciPy's transforms of arrays: see support/functions.hpp.

#include <support/functions.hpp>

#include <coir/array/fft.hpp>
#include <coir/array/trigonometric.hpp>

namespace coir::bench {

namespace {

/// Rows of a prime number of columns.
template <class V>
auto rows_of_prime(V const& x) {
  std::int64_t const columns = 499;
  return reshape(x(range(0, x.size() / columns * columns)), {-1, columns});
}

[[maybe_unused]] bool const added = add_functions({
    COIR_ROW(16, fft::fft(z)),
    COIR_ROW(16, fft::ifft(z)),
    COIR_ROW(8, fft::rfft(x)),
    COIR_ROW(16, fft::rfft(d)),
    COIR_ROW(12, fft::irfft(z, 2 * (n - 1))),
    COIR_ROW(8, fft::rfft(rows)),
    COIR_ROW(8, fft::rfft(rows_of_prime(x))),
    COIR_ROW(16, fft::fft(rows_of_prime(z))),
    COIR_ROW(12, fft::fft2(m)),
    COIR_ROW(12, fft::ifft2(m)),
    COIR_ROW(8, fft::rfft2(m)),
    COIR_ROW(8, fft::irfft2(fft::rfft2(m), side)),
    COIR_ROW(12, fft::fftn(cube)),
    COIR_ROW(12, fft::ifftn(cube)),
    COIR_ROW(8, fft::rfftn(cube)),
    COIR_ROW(8, fft::irfftn(fft::rfftn(cube), edge)),
    COIR_ROW(8, fft::fftfreq(n)),
    COIR_ROW(4, fft::rfftfreq(n)),
    COIR_ROW(8, fft::fftshift(x)),
    COIR_ROW(8, fft::ifftshift(m, 1)),
    COIR_ROW(8, fft::dct(rows)),
    COIR_ROW(8, fft::idct(rows)),
    COIR_ROW(8, fft::dst(rows)),
    COIR_ROW(8, fft::idst(rows)),
    COIR_ROW(8, fft::dct(x, {.type = 4})),
    COIR_ROW(16, fft::dst(d, {.type = 1})),
    COIR_ROW(8, fft::dct(m, {.norm = fft::Norm::ortho, .axis = 0})),
    COIR_ROW(8, fft::dctn(m)),
    COIR_ROW(8, fft::idctn(m)),
    COIR_ROW(8, fft::dstn(cube)),
    COIR_ROW(8, fft::idstn(cube)),
});

}  // namespace

}  // namespace coir::bench
