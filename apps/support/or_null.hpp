#pragma once

#include <support/report.hpp>

#include <optional>

namespace coir::apps {

/// A value, or null where there is none.
template <class Value>
Report or_null(std::optional<Value> const& value) {
  return value ? Report(*value) : Report(nullptr);
}

}  // namespace coir::apps
