#include <coir/io/gray_image.hpp>

namespace coir::io::detail {

void expects_valid(GrayImage const& image) {
  expects(image.bits == 8 || image.bits == 16, "bits of a grey picture must be 8 or 16",
          image.bits);
  expects(image.rows >= 1, "a picture must have at least 1 row", image.rows);
  expects(image.columns >= 1, "a picture must have at least 1 column", image.columns);
  expects(image.samples.size() == static_cast<std::size_t>(image.rows) * image.columns,
          "a picture must have rows * columns samples", image.samples.size());
  if (image.bits == 16) return;
  auto const largest = std::max_element(image.samples.begin(), image.samples.end());
  expects(*largest <= 255, "samples of an 8-bit picture must be at most 255", int(*largest));
}

}  // namespace coir::io::detail
