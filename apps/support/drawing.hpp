#pragma once

#include <support/colour_map.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps {

/// Rectangles, lines and words, as SVG. x and y count from the upper left corner, to the right and
/// down.
class Drawing {
 public:
  static constexpr Colour paper = {255, 255, 255}, ink = {40, 40, 48}, rule = {205, 205, 212};

  Drawing(int width, int height)
      : svg_("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) +
             " " + std::to_string(height) + "\" font-family=\"monospace\" font-size=\"20\">\n") {
    fill(0, 0, width, height, paper);
  }

  void fill(int x, int y, int width, int height, Colour colour) {
    std::array<char, 160> text;
    std::snprintf(text.data(), text.size(),
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y, width,
                  height, name_of(colour).c_str());
    svg_ += text.data();
  }

  /// \param y       where capital letters begin at the top
  /// \param anchor  what of the text is at x: "start", "middle" or "end"
  void write(int x, int y, std::string const& text, char const* anchor = "start") {
    constexpr int letter_height = 14;
    svg_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y + letter_height) +
            "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>\n";
  }

  /// A line through points.
  void line(std::vector<std::pair<double, double>> const& points, Colour colour,
            double width = 1.5) {
    svg_ += "<polyline fill=\"none\" stroke=\"" + name_of(colour) + "\" stroke-width=\"" +
            number(width) + "\" points=\"";
    for (auto const& [x, y] : points) svg_ += number(x) + "," + number(y) + " ";
    svg_ += "\"/>\n";
  }

  /// Dots of 1.5 pixels.
  void dots(std::vector<std::pair<double, double>> const& points, Colour colour) {
    svg_ += "<path fill=\"none\" stroke=\"" + name_of(colour) + "\" stroke-width=\"1.5\" d=\"";
    for (auto const& [x, y] : points) svg_ += "M" + number(x) + " " + number(y) + "h1.5";
    svg_ += "\"/>\n";
  }

  std::string text() const { return svg_ + "</svg>\n"; }

 private:
  static std::string number(double x) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.1f", x);
    return text.data();
  }

  static std::string name_of(Colour colour) {
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour[0], colour[1], colour[2]);
    return text.data();
  }

  /// Text between tags.
  static std::string escaped(std::string const& text) {
    std::string safe;
    for (char const c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return safe;
  }

  std::string svg_;
};

}  // namespace coir::apps
