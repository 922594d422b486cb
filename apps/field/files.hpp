#pragma once

#include "settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace coir::apps::field {

/// The ends of steps that the strip shows, the start and the end among them: as many as there are
/// pictures, or all.
inline std::vector<int> frames_of(FieldSettings const& settings) {
  int const steps = settings.universe.steps, gaps = std::min(settings.frames - 1, steps);
  std::vector<int> frames;
  for (int n = 0; n <= gaps; ++n)
    frames.push_back(static_cast<int>(std::lround(double(n) * steps / gaps)));
  return frames;
}

/// The names of a run's files.
class FileNames {
 public:
  explicit FileNames(FieldSettings const& settings)
      : folder_(settings.output),
        frames_(frames_of(settings).size()),
        of_gradient_(!settings.gradient_of.empty()) {}

  std::filesystem::path noise() const { return folder_ / "noise.npy"; }
  std::filesystem::path universe() const { return folder_ / "universe.toml"; }
  std::filesystem::path density() const { return folder_ / "density.npy"; }
  std::filesystem::path gradient() const { return folder_ / "gradient.npy"; }
  /// "start", "end_and_target", "strip"
  std::filesystem::path picture(std::string const& what) const { return folder_ / (what + ".png"); }
  /// frame_01.png is the start.
  std::filesystem::path frame(std::size_t n) const {
    std::string const number = std::to_string(n + 1);
    return picture("frame_" + std::string(number.size() < 2 ? 1 : 0, '0') + number);
  }

  /// Every file that the run may write to its folder.
  std::vector<std::filesystem::path> all() const {
    if (of_gradient_) return {gradient()};
    std::vector<std::filesystem::path> names{noise(), universe(), density()};
    for (char const* what : {"start", "end_and_target", "strip"}) names.push_back(picture(what));
    for (std::size_t n = 0; n < frames_; ++n) names.push_back(frame(n));
    return names;
  }

 private:
  std::filesystem::path folder_;
  std::size_t frames_;
  bool of_gradient_;
};

}  // namespace coir::apps::field
