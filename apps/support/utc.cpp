#include <support/utc.hpp>

#include <array>
#include <ctime>

namespace coir::apps {

namespace {

std::string date_and_time(std::chrono::system_clock::time_point time) {
  std::time_t const seconds =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return text.data();
}

}  // namespace

std::string utc_text(std::chrono::system_clock::time_point time) {
  return date_and_time(time) + "Z";
}

std::string utc_text_with_milliseconds(std::chrono::system_clock::time_point time) {
  auto const whole = std::chrono::floor<std::chrono::seconds>(time);
  auto const rest = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  std::string const digits = std::to_string(1000 + rest).substr(1);  // three, with zeros in front
  return date_and_time(time) + "." + digits + "Z";
}

}  // namespace coir::apps
