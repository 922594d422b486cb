#include "checkpoint.hpp"

#include "options.hpp"
#include "schedule.hpp"
#include "setting_list.hpp"

#include <coir/io/checksum.hpp>

#include <support/text.hpp>

#include <system_error>

namespace coir::apps::nbody {

namespace {

char const format[] = "coir-nbody checkpoint 2";

// More than any run has; what is larger isn't read.
constexpr std::int64_t most_scale_factors = 3'000'000, most_text = std::int64_t(1) << 27;

/// Reads a dataset along one axis whose length isn't known, but has a limit.
template <class T>
std::vector<T> read_list(hdf5::Reader const& file, std::string const& file_name,
                         std::string const& name, std::int64_t most) {
  file.expects_shape(name, {-1});
  file.expects_contiguous(name);
  std::int64_t const length = file.shape(name).front();
  if (length > most)
    throw InputError(file_name + ": '" + name + "' has " + std::to_string(length) +
                     " elements, and must have " + std::to_string(most) +
                     " at most: the file is damaged");
  return file.read<T>(name);
}

/// The text of each setting, from lines "name = text": each once, and no other.
std::map<std::string, std::string> texts_in(std::string const& text, std::string const& file_name) {
  auto const fail = [&](std::string const& what, std::string const& name) {
    throw InputError(file_name + ": " + what + " '" + one_line(name.substr(0, 40)) +
                     "': it is damaged, or another version of coir-nbody wrote it");
  };
  std::map<std::string, std::string> texts;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string const line = text.substr(begin, end - begin);
    std::size_t const equals = line.find(" = ");
    std::string const name = line.substr(0, equals);
    bool const is_known = equals != std::string::npos && end < text.size() &&
                          std::any_of(
                              setting_list().begin(), setting_list().end(),
                              [&](auto const& f) { return f.name == name; });
    if (!is_known) fail("unknown setting", name);
    if (!texts.emplace(name, line.substr(equals + 3)).second) fail("twice the setting", name);
    begin = end + 1;
  }
  for (auto const& setting : setting_list())
    if (!texts.contains(setting.name)) fail("without the setting", setting.name);
  return texts;
}

/// The settings that all texts together stand for.
Settings settings_of(std::map<std::string, std::string> const& texts) {
  Settings settings;
  for (auto const& setting : setting_list())
    if (std::string const& text = texts.at(setting.name); !text.empty())
      setting.set(settings, text);
  for (auto const& setting : setting_list())
    expects(setting.text(settings) == texts.at(setting.name),
            "the setting " + setting.name + " must be '" + setting.text(settings) +
                "' beside the others",
            "'" + texts.at(setting.name) + "'");
  return settings;
}

/// The steps must be those of the settings; outputs, of an earlier run too, may have cut some in two.
void expects_steps_of(Settings settings, std::vector<double> const& scale_factors) {
  for (std::size_t n = 0; n < scale_factors.size(); ++n)
    expects(
        std::isfinite(scale_factors[n]) && scale_factors[n] > (n == 0 ? 0 : scale_factors[n - 1]),
        "scale factors must be above 0 and rise", scale_factors[n]);
  (void)schedule_of(settings, scale_factors);  // says whether outputs are at ends
  settings.outputs.clear();
  auto const wanted = schedule_of(settings).scale_factors;
  for (double const a : wanted)
    expects(is_end_of_step(scale_factors, a), "a step must end at a = " + exact_text(a));
  expects(
      is_end_of_step({scale_factors.front()}, wanted.front()) &&
          is_end_of_step({scale_factors.back()}, wanted.back()),
      "steps must be from a = " + exact_text(wanted.front()) + " to " + exact_text(wanted.back()));
}

}  // namespace

void detail::write_checkpoint_header(hdf5::Writer& file, Settings const& settings,
                                     std::vector<double> const& scale_factors, int steps_done) {
  file.write_attribute_text("/", "format", format);
  file.write_attribute<std::int32_t>("/", "steps_done", steps_done);
  file.write("scale_factors", scale_factors);
  std::string const text = all_texts(settings);
  file.write("settings", std::vector<std::uint8_t>(text.begin(), text.end()));
}

Checkpoint read_checkpoint(std::filesystem::path const& path, Poll const& poll) {
  Checkpoint checkpoint;
  std::error_code none;
  checkpoint.path = std::filesystem::is_directory(path, none) ? path / "checkpoint.hdf5" : path;
  std::string const name = checkpoint.path.string();
  if (!io::has_checksum(checkpoint.path))
    throw InputError(
        name + " is no checkpoint of this version of coir-nbody (it has no checksum at " +
        "its end): it was cut off, an older version wrote it, or it is something else");
  io::verify_checksum(checkpoint.path, poll);

  checkpoint.file = std::make_unique<hdf5::Reader>(checkpoint.path);
  hdf5::Reader const& file = *checkpoint.file;
  if (!file.has_attribute("/", "format") ||
      file.attribute_text("/", "format", sizeof format - 1) != format)
    throw InputError(name + " is no checkpoint of this version of coir-nbody: name one");
  checkpoint.steps_done = file.attribute<std::int32_t>("/", "steps_done");
  checkpoint.scale_factors = read_list<double>(file, name, "scale_factors", most_scale_factors);
  auto const steps = static_cast<std::int64_t>(checkpoint.scale_factors.size()) - 1;
  if (checkpoint.steps_done < 0 || checkpoint.steps_done > steps || steps < 1)
    throw InputError(name + ": " + std::to_string(checkpoint.steps_done) + " of " +
                     std::to_string(steps) + " steps can't have been made: the file is damaged");

  auto const text = read_list<std::uint8_t>(file, name, "settings", most_text);
  checkpoint.texts = texts_in({text.begin(), text.end()}, name);
  Settings const settings = blaming(checkpoint.path, [&] {
    Settings const found = settings_of(checkpoint.texts);
    expects_slab_in_box(found);
    expects_steps_of(found, checkpoint.scale_factors);
    return found;
  });

  std::int64_t const count = settings.particles * settings.particles * settings.particles;
  auto const type =
      settings.precision == Precision::float32 ? hdf5::Type::float32 : hdf5::Type::float64;
  for (char const* vectors : {"positions", "momenta"}) {
    file.expects_shape(vectors, {count, 3});
    file.expects_contiguous(vectors);
    if (file.type(vectors) != type)
      throw InputError(name + ": '" + vectors + "' must be " + hdf5::name_of(type) + ", not " +
                       hdf5::name_of(file.type(vectors)) + ": the file is damaged");
  }
  return checkpoint;
}

Settings settings_to_go_on(CLI::App const& app, Settings const& given,
                           Checkpoint const& checkpoint) {
  Settings merged = given;
  std::string differences;
  for (auto const& setting : setting_list()) {
    std::string const& stored = checkpoint.texts.at(setting.name);
    if (is_given(app, setting.name)) {
      std::string const now = setting.text(given);
      if (setting.physics && now != stored)
        differences += (differences.empty() ? "" : "; ") + setting.name + ": " +
                       (stored.empty() ? "not set" : stored) + " there, " +
                       (now.empty() ? "not set" : now) + " here";
    } else if (!stored.empty()) {
      setting.set(merged, stored);
    }
  }
  expects(differences.empty(), "this run's physics isn't that of " + checkpoint.path.string() +
                                   " (" + differences +
                                   "): leave these options out, or start a new run");
  return merged;
}

}  // namespace coir::apps::nbody
