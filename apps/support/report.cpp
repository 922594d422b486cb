#include <support/report.hpp>

#include <coir/io/atomic_file.hpp>

namespace coir::apps {

std::string report_text(Report const& report) {
  // File names needn't be UTF-8; what isn't is replaced rather than refused.
  return report.dump(2, ' ', false, Report::error_handler_t::replace) + '\n';
}

void write_report(std::filesystem::path const& path, Report const& report) {
  io::write_file(path, report_text(report));
}

}  // namespace coir::apps
