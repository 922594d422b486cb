#include <compare/json_place.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace coir::apps {

using Json = nlohmann::ordered_json;

std::string read_text(std::filesystem::path const& path, std::string const& remedy) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError("can't read " + path.string() + ", which is a folder: " + remedy);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("can't read " + path.string() + ": " + remedy);
  std::string text;
  constexpr std::size_t most = std::size_t(256) << 20, step = 1 << 16;
  for (std::size_t size = 0; file && size <= most;) {
    text.resize(size + step);
    file.read(text.data() + size, step);
    size += static_cast<std::size_t>(file.gcount());
    text.resize(size);
  }
  if (text.size() > most)
    throw InputError(path.string() + " is larger than 256 MiB, which no report is: " + remedy);
  return text;
}

Json parse_json(std::string const& text, std::string const& name, std::string const& remedy) {
  constexpr int deepest = 100;  // copying and printing what is nested deeper could use up the stack
  auto const expects_depth = [&](int depth, Json::parse_event_t, Json const&) {
    if (depth > deepest)
      throw InputError(name + " nests deeper than " + std::to_string(deepest) +
                       " levels: " + remedy);
    return true;
  };
  try {
    return Json::parse(text, expects_depth);
  } catch (Json::exception const& error) {
    std::string const what = error.what();
    throw InputError(name + " is no JSON (" +
                     what.substr(std::min(what.size(), what.find("] ") + 2)) + "): " + remedy);
  }
}

Json object_in(std::string const& text) {
  try {
    Json json = parse_json(text, "", "");
    return json.is_object() ? json : Json();
  } catch (InputError const&) {
    return {};
  }
}

void JsonPlace::refuse(std::string const& problem) const {
  throw InputError(document_.name + " " + document_.fault + ": " + path_ +
                   (path_.empty() ? "" : " ") + problem + "; " + document_.remedy);
}

JsonPlace JsonPlace::operator[](std::string const& key) const {
  static Json const null;
  if (!json_.is_object()) refuse("must be an object");
  auto const found = json_.find(key);
  return {found == json_.end() ? null : *found, document_,
          path_ + (path_.empty() ? "" : ".") + key};
}

std::vector<std::string> JsonPlace::keys() const {
  if (!json_.is_object()) refuse("must be an object");
  std::vector<std::string> keys;
  for (auto const& item : json_.items()) keys.push_back(item.key());
  return keys;
}

std::vector<JsonPlace> JsonPlace::items() const {
  if (!json_.is_array()) refuse("must be a list");
  std::vector<JsonPlace> places;
  for (auto const& item : json_)
    places.emplace_back(item, document_, path_ + "[" + std::to_string(places.size()) + "]");
  return places;
}

std::string JsonPlace::text() const {
  if (!json_.is_string()) refuse("must be a text");
  return json_.get<std::string>();
}

bool JsonPlace::truth() const {
  if (!json_.is_boolean()) refuse("must be true or false");
  return json_.get<bool>();
}

double JsonPlace::number() const {
  if (!json_.is_number() || !(json_.get<double>() >= 0)) refuse("must be a number from 0 on");
  return json_.get<double>();
}

int JsonPlace::count() const {
  double const value = number();
  if (value != std::floor(value) || value > 1e9) refuse("must be a whole number");
  return static_cast<int>(value);
}

double JsonPlace::positive() const {
  double const value = number();
  if (!is_measurable(value)) refuse("must be a number from 1e-30 to 1e30");
  return value;
}

std::optional<double> JsonPlace::optional() const {
  if (json_.is_null()) return {};
  return positive();
}

}  // namespace coir::apps
