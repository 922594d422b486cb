#include <support/compute_on.hpp>
#include <support/text.hpp>

namespace coir::apps {

std::string Hardware::text() const {
  return backend + " (" + device + (is_host ? ", " + counted(threads, "threads") : "") + ")";
}

void report_hardware(Report& report, Hardware const& hardware) {
  report["backend"] = hardware.backend;
  report["device"] = hardware.device;
  report["threads"] = hardware.threads;
}

}  // namespace coir::apps
