#include <coir/io/gray_image.hpp>

namespace coir::io::detail {

void expects_valid(GrayForm const& form) {
  expects(form.bits == 8 || form.bits == 16, "bits of a grey picture must be 8 or 16", form.bits);
  expects(form.rows >= 1, "a picture must have at least 1 row", form.rows);
  expects(form.columns >= 1, "a picture must have at least 1 column", form.columns);
}

void expects_valid(GrayImage const& image) {
  expects_valid(GrayForm{image.rows, image.columns, image.bits});
  expects(image.samples.size() == static_cast<std::size_t>(image.rows) * image.columns,
          "a picture must have rows * columns samples", image.samples.size());
  if (image.bits == 16) return;
  auto const largest = std::max_element(image.samples.begin(), image.samples.end());
  expects(*largest <= image.maximum(), "samples of a picture of 8 bits must be at most 255",
          int(*largest));
}

}  // namespace coir::io::detail
