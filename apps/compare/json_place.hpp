#pragma once

/// JSON that people and other programs wrote. A fault is told in one line that names its place.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps {

/// All of a file.
///
/// \throws InputError naming it and the remedy if it can't be read
std::string read_text(std::filesystem::path const& path, std::string const& remedy);

/// \param name  of the text, for messages
/// \throws InputError naming it, what is wrong, and the remedy if the text is no JSON
nlohmann::ordered_json parse_json(std::string const& text, std::string const& name,
                                  std::string const& remedy);

/// The object that another program printed; null if the text is none, or nests deeper than reports
/// do.
nlohmann::ordered_json object_in(std::string const& text);

/// Whether a time, size or rate is one that machines can have, in SI units. Ratios
/// of other numbers are zero or infinite.
constexpr bool is_measurable(double value) { return value >= 1e-30 && value <= 1e30; }

/// A document's name and description in messages: "a.json is a damaged report: ...; make it anew".
struct JsonDocument {
  std::string name;    ///< "a.json"
  std::string fault;   ///< "is a damaged report"
  std::string remedy;  ///< "make it anew"
};

/// A value in a document, which must live longer, and its place there. Members throw an InputError
/// if the value isn't of the kind that they return.
class JsonPlace {
 public:
  JsonPlace(nlohmann::ordered_json const& json, JsonDocument document, std::string path = "")
      : json_(json), document_(std::move(document)), path_(std::move(path)) {}

  [[noreturn]] void refuse(std::string const& problem) const;

  /// A value of an object; null if it isn't there.
  JsonPlace operator[](std::string const& key) const;

  /// The keys of an object.
  std::vector<std::string> keys() const;
  std::vector<JsonPlace> items() const;
  std::string text() const;
  bool truth() const;
  double number() const;                   ///< from 0 on
  int count() const;                       ///< a whole number
  double positive() const;                 ///< is_measurable()
  std::optional<double> optional() const;  ///< positive() or null
  nlohmann::ordered_json const& json() const { return json_; }

 private:
  nlohmann::ordered_json const& json_;
  JsonDocument document_;
  std::string path_;
};

}  // namespace coir::apps
