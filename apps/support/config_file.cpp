#include <support/config_file.hpp>
#include <support/run.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/file.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace coir::apps {

namespace {

/// CLI11's reader of TOML, which would pass over keys that are given twice.
class StrictToml : public CLI::ConfigTOML {
 public:
  explicit StrictToml(CLI::App const& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    auto items = CLI::ConfigTOML::from_config(input);
    std::string const file = app_.get_config_ptr()->as<std::string>();
    std::set<std::string> seen;
    for (auto const& item : items) {
      std::string const key = item.fullname();
      CLI::Option const* const option = app_.get_option_no_throw("--" + item.name);
      if (!item.parents.empty() || option == nullptr || !option->get_configurable())
        throw InputError(unknown_key(file, one_line(key), nearest_option(app_, "--" + item.name)));
      bool const is_second = !seen.insert(key).second;
      auto const most = static_cast<std::size_t>(std::max(1, option->get_expected_max()));
      if (is_second || item.inputs.size() > most)
        throw InputError(file + ": '" + key + "' has several values: leave one");
    }
    return items;
  }

 private:
  std::string unknown_key(std::string const& file, std::string const& key,
                          std::string const& nearest) const {
    std::string const hint = nearest.empty() ? "; " : ": did you mean " + nearest.substr(2) + "? ";
    return file + ": unknown key '" + key + "'" + hint + app_.get_name() +
           " --help lists the options, which are the keys";
  }

  CLI::App const& app_;
};

}  // namespace

CLI::Option* add_config_file(CLI::App& app) {
  app.config_formatter(std::make_shared<StrictToml>(app));
  auto* const option =
      app.set_config("--config", "", "Read options from a file, such as config.toml");
  // CLI11 says of a file that it can't read only that it may be missing.
  return option->type_name("FILE")->check([](std::string const& file) {
    io::read_file(file);
    return std::string();
  });
}

}  // namespace coir::apps
