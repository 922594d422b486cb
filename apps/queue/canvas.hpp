#pragma once

#include <coir/io/rgb_image.hpp>

#include <support/colour_map.hpp>

#include <string_view>

namespace coir::apps::queue {

/// A picture that is drawn on: rectangles and plain letters. What lies outside isn't drawn.
class Canvas {
 public:
  static constexpr int letter_height = 14;  ///< above the line; some end 4 below it
  static constexpr int letter_step = 12;    ///< from one letter to the next

  Canvas(int rows, int columns, Colour paper);

  /// From x and y, which count from the upper left corner, to the right and down.
  void fill(int x, int y, int width, int height, Colour colour);

  /// ASCII's letters, digits and most signs; others are boxes. y is where the letters begin at the top.
  void write(int x, int y, std::string_view text, Colour colour);

  static int width_of(std::string_view text) { return letter_step * static_cast<int>(text.size()); }

  io::RgbImage const& image() const { return image_; }

 private:
  io::RgbImage image_;
};

}  // namespace coir::apps::queue
