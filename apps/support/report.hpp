#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace coir::apps {

/// A JSON document that keeps the order in which its keys were added.
using Report = nlohmann::ordered_json;

/// A value, or null where there is none.
template <class Value>
Report or_null(std::optional<Value> const& value) {
  return value ? Report(*value) : Report(nullptr);
}

/// Writes a report as indented JSON, whole or not at all. NaN and infinities become null.
///
/// \throws ResourceError if the file can't be written
void write_report(std::filesystem::path const& path, Report const& report);

/// The text that write_report() writes.
std::string report_text(Report const& report);

}  // namespace coir::apps
