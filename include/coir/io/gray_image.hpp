#pragma once

/// \file
/// Grey pictures in memory, and conversions from and to Kokkos Views.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/io/c_order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace coir::io {

/// A grey picture: samples from 0 (black) to maximum() (white), row after row from the top.
struct GrayImage {
  int rows = 0;
  int columns = 0;
  int bits = 8;  ///< 8 or 16
  std::vector<std::uint16_t> samples;
  bool had_colours = false;  ///< whether the picture's file had colours, which became grey

  /// The sample value of white: 255 or 65535.
  int maximum() const { return bits == 8 ? 255 : 65535; }

  /// The sample in row i, column j.
  std::uint16_t operator()(int i, int j) const {
    return samples[static_cast<std::size_t>(std::int64_t{columns} * i + j)];
  }
};

/// The extents and sample format of a grey picture.
struct GrayForm {
  int rows = 0;
  int columns = 0;
  int bits = 8;  ///< 8 or 16

  /// The sample value of white: 255 or 65535.
  int maximum() const { return bits == 8 ? 255 : 65535; }
};

/// Sets the samples of a row, 0 to the form's maximum(). Called with rows 0, 1, ...
using GrayRows = std::function<void(int row, std::span<std::uint16_t> samples)>;

namespace detail {

/// \throws PreconditionError unless bits are 8 or 16 and extents at least 1
void expects_valid(GrayForm const& form);

/// \throws PreconditionError unless extents, bits and the number of samples agree
void expects_valid(GrayImage const& image);

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

template <class T>
std::uint16_t to_sample(T value, int maximum) {
  if constexpr (std::is_floating_point_v<T>) {
    T const clamped = std::min(std::max(value, T(0)), T(maximum));
    T const below = std::floor(clamped);  // clamped + 0.5 would itself be rounded
    return static_cast<std::uint16_t>(below + (clamped - below >= T(0.5) ? 1 : 0));
  } else {
    if (value <= T(0)) return 0;
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(value, maximum));
  }
}

// A row of a field in grey levels.
template <class T>
void to_samples(std::span<T const> values, GrayForm const& form, std::int64_t row,
                std::span<std::uint16_t> samples) {
  for (std::size_t j = 0; j < samples.size(); ++j) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(values[j]))
        throw PreconditionError("a picture can't show row " + std::to_string(row) + ", column " +
                                std::to_string(j) + ": its value is not a number");
    samples[j] = to_sample(values[j], form.maximum());
  }
}

// The form of a field's picture.
template <class V>
GrayForm form_of(V const& view, int bits) {
  expects(bits == 8 || bits == 16, "bits of a grey picture must be 8 or 16", bits);
  for (int d = 0; d < 2; ++d)
    expects(view.extent(d) >= 1 && view.extent(d) <= std::numeric_limits<int>::max(),
            "a picture's extents must be 1 to 2147483647", view.extent(d));
  return {static_cast<int>(view.extent(0)), static_cast<int>(view.extent(1)), bits};
}

}  // namespace detail

/// Copies a picture's samples, in grey levels from 0 to image.maximum(), into a View.
///
/// \param view  [rows, columns] out; any layout and memory space, any number type that can hold
///              image.maximum()
/// \throws PreconditionError if the extents differ or the number type is too small
template <class V>
  requires ViewOfRank<V, 2> && detail::Number<typename V::value_type>
void copy_to_view(GrayImage const& image, V const& view) {
  using T = typename V::value_type;
  detail::expects_valid(image);
  expects(static_cast<std::int64_t>(view.extent(0)) == image.rows &&
              static_cast<std::int64_t>(view.extent(1)) == image.columns,
          "the View must have the picture's extents");
  if constexpr (std::is_integral_v<T>)
    expects(static_cast<std::uint64_t>(std::numeric_limits<T>::max()) >=
                static_cast<std::uint64_t>(image.maximum()),
            "the View's integers must hold the picture's maximum", image.maximum());
  fill_runs_in_c_order(view, [&](std::int64_t row, std::span<T> elements) {
    std::uint16_t const* const samples = image.samples.data() + row * image.columns;
    std::transform(samples, samples + elements.size(), elements.begin(),
                   [](std::uint16_t sample) { return static_cast<T>(sample); });
  });
}

/// A new View [rows, columns] with a picture's samples, in grey levels from 0 to image.maximum().
///
/// \tparam V  the View's type: rank 2, LayoutRight or LayoutLeft, any memory space and number type
/// \throws PreconditionError if the number type can't hold image.maximum()
/// \throws ResourceError if memory is short
template <class V>
  requires ViewOfRank<V, 2> && detail::Number<typename V::value_type>
V to_view(GrayImage const& image, std::string const& label = "coir::io::gray_image/image") {
  detail::expects_valid(image);
  V const view = allocate<V>(label, std::array<std::int64_t, 2>{image.rows, image.columns});
  copy_to_view(image, view);
  return view;
}

}  // namespace coir::io
