#include "outputs.hpp"

#include <coir/io/png.hpp>

#include <support/colour_map.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace coir::apps::shallow {

namespace {

constexpr int frame_columns = 240, gap = 4;

/// Sets one pixel, whose value is 0 to 1.
void set_pixel(std::vector<Colour> const& table, float value, std::span<std::uint8_t> samples,
               std::size_t column) {
  float const at = std::clamp(value, 0.0f, 1.0f) * static_cast<float>(table.size() - 1);
  Colour const colour = table[static_cast<std::size_t>(at + 0.5f)];
  std::copy_n(colour.begin(), 3, samples.begin() + static_cast<std::ptrdiff_t>(3 * column));
}

}  // namespace

std::string file_name(char const* field, std::int64_t step, char const* ending) {
  std::array<char, 96> text;
  std::snprintf(text.data(), text.size(), "%s_%06lld%s", field, static_cast<long long>(step),
                ending);
  return text.data();
}

void write_picture(std::filesystem::path const& path, HostField<float> const& field, float low,
                   float high) {
  auto const table = table_of_colours();
  auto const rows = field.extent(0), columns = field.extent(1);
  float const scale = high > low ? 1 / (high - low) : 0;
  io::write_png(path, static_cast<int>(rows), static_cast<int>(columns),
                [&](int row, std::span<std::uint8_t> samples) {
                  std::size_t const j = rows - 1 - static_cast<std::size_t>(row);
                  for (std::size_t i = 0; i < columns; ++i)
                    set_pixel(table, (field(j, i) - low) * scale, samples, i);
                });
}

void Strip::add(HostField<float> const& surface) {
  std::size_t const step = (surface.extent(1) + frame_columns - 1) / frame_columns;
  HostField<float> const frame("frame", (surface.extent(0) + step - 1) / step,
                               (surface.extent(1) + step - 1) / step);
  for (std::size_t j = 0; j < frame.extent(0); ++j)
    for (std::size_t i = 0; i < frame.extent(1); ++i) frame(j, i) = surface(j * step, i * step);
  frames_.push_back(frame);
}

void Strip::write(std::filesystem::path const& path) const {
  float most = 0;
  for (auto const& frame : frames_)
    for (std::size_t n = 0; n < frame.size(); ++n) most = std::max(most, std::abs(frame.data()[n]));
  std::size_t const rows = frames_.front().extent(0), columns = frames_.front().extent(1);
  HostField<float> const all("all", rows, frames_.size() * (columns + gap) - gap);
  for (std::size_t n = 0; n < frames_.size(); ++n)
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t i = 0; i < columns; ++i) all(j, n * (columns + gap) + i) = frames_[n](j, i);
  write_picture(path, all, -most, most);
}

void TotalsText::add(std::int64_t step, double time, coir::shallow::Totals const& totals) {
  std::array<char, 200> line;
  std::snprintf(line.data(), line.size(), "%lld %.6g %.17g %.17g %.17g %.9g %.9g %.6g\n",
                static_cast<long long>(step), time, totals.mass, totals.energy, totals.enstrophy,
                totals.smallest_depth, totals.largest_depth, totals.largest_speed);
  text_ += line.data();
}

}  // namespace coir::apps::shallow
