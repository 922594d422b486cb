#include <support/progress.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

namespace coir::apps {

namespace {

std::string clock_text(double seconds) {
  long long const whole = std::llround(seconds);
  char text[48];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

}  // namespace

std::string progress_text(std::string const& task, std::string const& unit, std::int64_t done,
                          std::int64_t total, double seconds, std::string const& note) {
  bool const is_total_known = total > 0;
  std::string text = task + ": ";
  if (is_total_known) {
    auto const percent =
        static_cast<std::int64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total));
    text += std::to_string(percent) + " %, " + std::to_string(done) + " of ";
  }
  text += counted(is_total_known ? total : done, unit);
  if (done > 0 && seconds > 0) {
    double const rate = static_cast<double>(done) / seconds;
    text += ", " + with_unit(rate, "/s");
    if (is_total_known)
      text += ", " + clock_text(static_cast<double>(total - done) / rate) + " left";
  }
  if (!note.empty()) text += ", " + note;
  return text;
}

ProgressLine::ProgressLine(std::string task, std::string unit, ProgressMode mode)
    : task_(std::move(task)),
      unit_(std::move(unit)),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      enabled_(mode == ProgressMode::always || (mode == ProgressMode::automatic && on_terminal_)),
      start_(Clock::now()),
      next_(start_) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
}

void ProgressLine::update(std::int64_t done, std::int64_t total, std::string const& note) {
  if (!enabled_) return;
  auto const now = Clock::now();
  if (now < next_) return;
  next_ = now + (on_terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000));

  double const seconds = std::chrono::duration<double>(now - start_).count();
  std::string const text = progress_text(task_, unit_, done, total, seconds, note);
  if (!on_terminal_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  std::fprintf(stderr, "\r%-*s", static_cast<int>(width_), text.c_str());
  std::fflush(stderr);
  width_ = text.size();
}

}  // namespace coir::apps
