#include "classes.hpp"

#include <cstdio>

namespace coir::apps::queue {

namespace {

std::string short_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The labels of classes by their beginnings, of which the first isn't shown: "< 4", "4-16", ">=
/// 16".
std::vector<std::string> labels_of(std::vector<double> const& begins, double unit) {
  std::vector<std::string> labels;
  for (std::size_t n = 0; n < begins.size(); ++n) {
    std::string const begin = short_number(begins[n] / unit);
    if (n + 1 == begins.size())
      labels.push_back(">= " + begin);
    else
      labels.push_back((n == 0 ? "< " : begin + "-") + short_number(begins[n + 1] / unit));
  }
  return labels;
}

Property growing(char const* key, char const* title, GrowingClasses const& classes,
                 double unit = 1) {
  std::vector<double> begins = {0};
  double bound = classes.first * unit;
  for (int n = 1; n < classes.count; ++n, bound *= classes.factor) begins.push_back(bound);
  return {key, title, labels_of(begins, unit), begins};
}

Property hours_of_the_day() {
  Property hours = {"hour", "hour", {}, {}};
  for (int hour = 0; hour < 24; ++hour) {
    hours.labels.push_back(std::to_string(100 + hour).substr(1));
    hours.begins.push_back(hour);
  }
  return hours;
}

}  // namespace

Properties properties_with(GrowingClasses const& core_hours, GrowingClasses const& memory_hours) {
  constexpr double gib = 1024. * 1024 * 1024;
  return {{
      {"cores", "cores", {"1", "2-4", "5-16", "17-64", "65-256", "> 256"}, {0, 2, 5, 17, 65, 257}},
      growing("core_hours", "core hours", core_hours),
      growing("memory", "GiB of memory", {4, 4, 6}, gib),
      growing("memory_hours", "GiB hours", memory_hours),
      {"gpus", "GPUs", {"0", "1", "2", "3-4", "5-8", "> 8"}, {0, 1, 2, 3, 5, 9}},
      hours_of_the_day(),
  }};
}

}  // namespace coir::apps::queue
