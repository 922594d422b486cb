#include "checkpoint.hpp"

#include "fields.hpp"
#include "options.hpp"

#include <coir/core/errors.hpp>

namespace coir::apps::nbody {

namespace {

char const format[] = "coir-nbody checkpoint 1";

}  // namespace

void detail::write_checkpoint_header(hdf5::Writer& file, Settings const& settings,
                                     std::vector<double> const& scale_factors, int steps_done) {
  file.write_attribute_text("/", "format", format);
  file.write_attribute<std::int32_t>("/", "steps_done", steps_done);
  file.write("scale_factors", scale_factors);
  file.make_group("settings");
  for (auto const& field : fields())
    if (std::string const text = field.text(settings); !text.empty())
      file.write_attribute_text("settings", field.name, text);
}

Checkpoint read_checkpoint(std::filesystem::path const& path) {
  Checkpoint checkpoint;
  checkpoint.path = std::filesystem::is_directory(path) ? path / "checkpoint.hdf5" : path;
  std::string const name = checkpoint.path.string();
  hdf5::Reader const file(checkpoint.path);
  if (!file.has_attribute("/", "format") || file.attribute_text("/", "format") != format)
    throw InputError(name + " is no checkpoint of this version of coir-nbody: name one");
  checkpoint.steps_done = file.attribute<std::int32_t>("/", "steps_done");
  file.require_shape("scale_factors", {-1});
  checkpoint.scale_factors = file.read<double>("scale_factors");
  auto const steps = static_cast<std::int64_t>(checkpoint.scale_factors.size()) - 1;
  if (checkpoint.steps_done < 0 || checkpoint.steps_done > steps || steps < 1)
    throw InputError(name + ": " + std::to_string(checkpoint.steps_done) + " of " +
                     std::to_string(steps) + " steps can't have been made: the file is damaged");
  for (auto const& field : fields())
    if (file.has_attribute("settings", field.name))
      checkpoint.fields[field.name] = file.attribute_text("settings", field.name);
  return checkpoint;
}

Settings settings_to_go_on(CLI::App const& app, Settings const& given,
                           Checkpoint const& checkpoint) {
  Settings merged = given;
  std::string differences;
  for (auto const& field : fields()) {
    auto const found = checkpoint.fields.find(field.name);
    std::string const stored = found == checkpoint.fields.end() ? std::string() : found->second;
    if (is_given(app, field.name)) {
      std::string const now = field.text(given);
      if (field.physics && now != stored)
        differences += (differences.empty() ? "" : "; ") + field.name + ": " +
                       (stored.empty() ? "not set" : stored) + " there, " +
                       (now.empty() ? "not set" : now) + " here";
    } else if (!stored.empty()) {
      try {
        field.set(merged, stored);
      } catch (PreconditionError const& error) {
        throw InputError(checkpoint.path.string() + ": " + error.what());
      }
    }
  }
  expects(differences.empty(), "this run's physics isn't that of " + checkpoint.path.string() +
                                   " (" + differences +
                                   "): leave these options out, or start a new run");
  return merged;
}

}  // namespace coir::apps::nbody
