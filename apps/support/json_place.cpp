#include <support/json_place.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <memory>
#include <system_error>

namespace coir::apps {

using Json = nlohmann::ordered_json;

namespace {

/// How many values a text has, read without keeping them.
class Extent : public nlohmann::json_sax<Json> {
 public:
  Extent(std::string const& name, std::string const& remedy) : name_(name), remedy_(remedy) {}

  std::size_t values() const { return values_; }

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, string_t const&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, std::string const&, Json::exception const&) override {
    return false;
  }

 private:
  bool count() {
    constexpr std::size_t most = 4'000'000;
    if (++values_ > most)
      throw InputError(name_ + " has more than " + std::to_string(most) +
                       " values, which no report has: " + remedy_);
    return true;
  }
  bool begin() {
    constexpr int deepest =
        100;  // copying and printing what is nested deeper could use up the stack
    if (++depth_ > deepest)
      throw InputError(name_ + " nests deeper than " + std::to_string(deepest) +
                       " levels: " + remedy_);
    return count();
  }
  bool end() {
    --depth_;
    return true;
  }

  std::string const& name_;
  std::string const& remedy_;
  std::size_t values_ = 0;
  int depth_ = 0;
};

/// Throws std::bad_alloc if memory is short for reading values. Reading must not start then: values that are half read take
/// more memory when they are destroyed, and a destructor that finds none ends the program.
void expects_memory_for_values(std::size_t values, std::size_t text_size) {
  constexpr std::size_t bytes_of_value = 300;  // three members of an object, while its list grows
  std::unique_ptr<char[]> const block(new char[bytes_of_value * (values + 1) + 2 * text_size]);
  static_cast<char volatile&>(block[0]) = 0;  // or compilers leave the block out
}

}  // namespace

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
  Extent extent(name, remedy);
  Json::sax_parse(text, &extent);  // what is no JSON is said below
  expects_memory_for_values(extent.values(), text.size());
  try {
    return Json::parse(text);
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
