#include <support/command_line.hpp>
#include <support/config_file.hpp>
#include <support/messages.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/file.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace coir::apps {

namespace {

// What a backslash in double quotes may be followed by, and what that stands for.
constexpr std::string_view escapes = "btnfr\"\\", escapes_mean = "\b\t\n\f\r\"\\";

/// Goes through a text of TOML once, from its start to its end.
class TomlReader {
 public:
  TomlReader(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // editors' byte-order mark
  }

  std::vector<TomlEntry> entries() {
    std::vector<TomlEntry> result;
    while (skip_to_content()) result.push_back(entry());
    return result;
  }

 private:
  /// Passes over spaces, comments and ends of lines; false at the end of the text.
  bool skip_to_content() {
    for (;;) {
      skip_spaces();
      if (rest_.starts_with('#')) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      if (!take('\n')) return !rest_.empty();
      ++line_;
    }
  }

  void skip_spaces() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t') || rest_.starts_with("\r\n"))
      rest_.remove_prefix(1);
  }

  bool take(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  TomlEntry entry() {
    TomlEntry entry;
    entry.line = line_;
    if (rest_.starts_with('['))
      fail("tables in brackets aren't known here: write keys and values alone");
    std::string_view const line = rest_.substr(0, rest_.find('\n'));
    bool const is_quoted = rest_.starts_with('"') || rest_.starts_with('\'');
    if (is_quoted)
      entry.key = quoted();
    else
      entry.key = taken(std::min(line.find('='), line.size()));
    while (entry.key.ends_with(' ') || entry.key.ends_with('\t')) entry.key.pop_back();
    skip_spaces();
    if (entry.key.empty() || !take('='))
      fail("a line must be KEY = VALUE, not '" + one_line(std::string(line)) + "'");
    skip_spaces();
    if (take('[')) {
      entry.values = list();
    } else {
      entry.values = {value()};
    }
    skip_spaces();
    if (!rest_.empty() && !rest_.starts_with('#') && !rest_.starts_with('\n'))
      fail("'" + one_line(entry.key) +
           "' has more than a value: put strings in quotes, lists in [ ]");
    return entry;
  }

  /// Reads a list after its bracket, in one line or over several.
  std::vector<std::string> list() {
    std::vector<std::string> values;
    for (;;) {
      if (!skip_to_content()) fail("a list has no end: close it by ]");
      if (take(']')) return values;
      if (!values.empty() && !take(',')) fail("values of a list must have commas between them");
      if (!skip_to_content()) continue;
      if (take(']')) return values;
      if (rest_.starts_with('[')) fail("lists of lists aren't known here");
      values.push_back(value());
    }
  }

  std::string value() {
    if (rest_.starts_with('"') || rest_.starts_with('\'')) return quoted();
    std::string const word = taken(std::min(rest_.find_first_of(" \t\r\n,]#\"'=["), rest_.size()));
    if (word.empty()) fail("a value is missing");
    return word;
  }

  /// Between single quotes text is as it stands there, between double quotes a backslash begins an
  /// escape.
  std::string quoted() {
    char const quote = rest_.front();
    rest_.remove_prefix(1);
    std::string const ends = quote == '"' ? "\"\\\n" : "'\n";
    for (std::string text;;) {
      std::size_t const end = rest_.find_first_of(ends);
      if (end == std::string_view::npos || rest_[end] == '\n')
        fail("a string has no end: close it by the quote that it begins with, in the same line");
      text += taken(end);
      if (take(quote)) return text;
      take('\\');
      text += escaped();
    }
  }

  /// What an escape stands for, after its backslash.
  std::string escaped() {
    char const name = rest_.empty() ? ' ' : rest_.front();
    if (auto const at = escapes.find(name); at != std::string_view::npos) {
      rest_.remove_prefix(1);
      return std::string(1, escapes_mean[at]);
    }
    fail(
        "a backslash in double quotes must begin one of the escapes \\b \\t \\n \\f \\r \\\" \\\\: "
        "put the text in single quotes");
  }

  std::string taken(std::size_t count) {
    std::string text(rest_.substr(0, count));
    rest_.remove_prefix(count);
    return text;
  }

  [[noreturn]] void fail(std::string const& what) const {
    throw InputError(name_ + ", line " + std::to_string(line_) + ": " + what);
  }

  std::string_view rest_;
  std::string name_;
  int line_ = 1;
};

/// The configurations that add_config_file() reads.
class ConfigReader : public CLI::ConfigTOML {
 public:
  ConfigReader(CLI::App const& app, std::vector<std::string> inputs)
      : app_(app), inputs_(std::move(inputs)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::string const text{std::istreambuf_iterator<char>(input), {}};
    std::string const file = app_.get_config_ptr()->as<std::string>();
    std::vector<CLI::ConfigItem> found;
    std::set<std::string> seen;
    for (auto& entry : read_toml(text, file)) {
      std::string const key = one_line(entry.key);
      CLI::Option const* const option = app_.get_option_no_throw("--" + entry.key);
      if (option == nullptr || !option->get_configurable())
        throw InputError(unknown_key(file, key, nearest_option(app_, "--" + entry.key, true)));
      bool const is_second = !seen.insert(entry.key).second;
      std::string const opposite =
          entry.key.starts_with("no-") ? entry.key.substr(3) : "no-" + entry.key;
      if (seen.contains(opposite))
        throw InputError(file + ": '" + key + "' and '" + opposite +
                         "' contradict each other: leave one");
      CLI::Option const* const opposed = app_.get_option_no_throw("--" + opposite);
      bool const is_overruled = opposed != nullptr && opposed->count() > 0;
      bool const takes_list = option->get_expected_max() > 1;
      if (is_second || (entry.values.size() > 1 && !takes_list))
        throw InputError(file + ": '" + key + "' has several values: leave one");
      if (entry.values.empty() && !takes_list)
        throw InputError(file + ": '" + key + "' has no value: give it one, or leave it out");
      bool const is_flag = option->get_expected_min() == 0;
      if (is_flag && entry.values.front() != "true" && entry.values.front() != "false")
        throw InputError(file + ": '" + key + "' must be true or false, not '" +
                         entry.values.front() + "'");
      if (entry.values.empty() || is_overruled)
        continue;  // an empty list is as if it weren't there
      found.emplace_back();
      found.back().name = entry.key;
      found.back().inputs = std::move(entry.values);
      if (std::find(inputs_.begin(), inputs_.end(), "--" + entry.key) != inputs_.end())
        for (auto& path : found.back().inputs)
          if (!path.empty()) path = (std::filesystem::path(file).parent_path() / path).string();
    }
    return found;
  }

 private:
  std::string unknown_key(std::string const& file, std::string const& key,
                          std::string const& nearest) const {
    std::string const hint = nearest.empty() ? "; " : ": did you mean " + nearest.substr(2) + "? ";
    return file + ": unknown key '" + key + "'" + hint + app_.get_name() +
           " --help lists the options, which are the keys";
  }

  CLI::App const& app_;
  std::vector<std::string> inputs_;
};

}  // namespace

std::vector<TomlEntry> read_toml(std::string const& text, std::string const& name) {
  return TomlReader(text, name).entries();
}

std::string toml_string(std::string const& text) {
  std::string quoted = "\"";
  for (char const c : text)
    if (auto const at = escapes_mean.find(c); at != std::string_view::npos)
      quoted += {'\\', escapes[at]};
    else
      quoted += c;
  return quoted + '"';
}

void add_config_file(CommandLine& line, std::vector<std::string> inputs) {
  CLI::App& app = line.app();
  app.config_formatter(std::make_shared<ConfigReader>(app, std::move(inputs)));
  auto* const option =
      app.set_config("--config", "", "Read options from a file, such as config.toml");
  option->type_name("FILE")->check([](std::string const& file) {
    (void)io::read_file(file, 1);  // says why not; CLI11 says only that it may be missing
    return std::string();
  });
}

}  // namespace coir::apps
