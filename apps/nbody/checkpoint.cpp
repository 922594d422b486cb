#include "checkpoint.hpp"

#include "options.hpp"
#include "schedule.hpp"
#include "setting_list.hpp"

#include <coir/io/checksum.hpp>

#include <support/same_file.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <string_view>
#include <system_error>

namespace coir::apps::nbody {

namespace {

// Both have the same length, by which readers ask for either.
char const format[] = "coir-nbody checkpoint 2", format_over_parts[] = "coir-nbody checkpoint +";
static_assert(sizeof format == sizeof format_over_parts);

// More than any run has; what is larger isn't read.
constexpr std::int64_t most_scale_factors = 3'000'000, most_text = std::int64_t(1) << 27,
                       most_parts = 1'000'000;

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

/// Makes paths absolute, which a checkpoint names from the folder that it is in.
void find_paths_from(std::filesystem::path const& folder,
                     std::map<std::string, std::string>& texts) {
  std::error_code none;
  for (auto const& setting : setting_list()) {
    std::string& text = texts.at(setting.name);
    if (setting.kind == SettingKind::path && !text.empty() &&
        std::filesystem::path(text).is_relative())
      text = std::filesystem::weakly_canonical(std::filesystem::absolute(folder / text), none)
                 .string();
  }
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

/// The steps must be those of the settings; outputs, of an earlier run too, may have cut some in
/// two.
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

/// Whether the file is what it was when it was written.
void expects_whole(std::filesystem::path const& path, Poll const& poll) {
  if (!io::has_checksum(path))
    throw InputError(
        path.string() + " is no checkpoint of this version of coir-nbody (it has no checksum at " +
        "its end): it was cut off, an older version wrote it, or it is something else");
  io::verify_checksum(path, poll);
}

/// Whether a part is there, the one that was written, and whole.
void expects_part(std::filesystem::path const& part, std::uint64_t checksum,
                  std::string const& checkpoint, Poll const& poll) {
  std::error_code none;
  if (!std::filesystem::exists(part, none))
    throw InputError(part.string() + " is missing, a part of " + checkpoint +
                     ": copy all files of a checkpoint together");
  if (io::stored_checksum(part) != checksum)
    throw InputError(part.string() + " isn't the part that " + checkpoint +
                     " was written with: it belongs to another checkpoint, or is damaged");
  io::verify_checksum(part, poll);
}

void open_part(CheckpointPart& part, hdf5::Type type) {
  if (!part.file) part.file = std::make_unique<hdf5::Reader>(part.path);
  for (char const* vectors : {"positions", "momenta"}) {
    part.file->expects_shape(vectors, {part.particles.count, 3});
    part.file->expects_contiguous(vectors);
    if (part.file->type(vectors) != type)
      throw InputError(part.path.string() + ": '" + vectors + "' must be " + hdf5::name_of(type) +
                       ", not " + hdf5::name_of(part.file->type(vectors)) +
                       ": the file is damaged");
  }
}

[[noreturn]] void fail_as_no_checkpoint(std::filesystem::path const& path,
                                        hdf5::Reader const& file) {
  if (file.has("settings") || !file.has("positions") || !file.has("momenta"))
    throw InputError(path.string() + " is no checkpoint of this version of coir-nbody: name one");
  auto const whole = checkpoint_of_part(path);
  throw InputError(path.string() + " is one rank's part of a checkpoint: name " +
                   (whole.empty() ? "the file over all parts, " + std::string(checkpoint_name)
                                  : whole.string() + ", the file over all parts") +
                   ", or its folder");
}

/// Whether a file over parts still has the name by which it finds them.
void expects_own_name(Checkpoint const& checkpoint) {
  std::error_code none;
  auto const& first = checkpoint.parts.front().path;
  if (checkpoint.path.filename() == checkpoint_name || std::filesystem::exists(first, none)) return;
  std::string const letter = first.stem().stem().extension().string();
  throw InputError(checkpoint.path.string() + " was named " + std::string(checkpoint_name) +
                   " when its parts, " + checkpoint_part(checkpoint_name, letter[1], 0).string() +
                   " and so on, were written: give it that name again, in a folder with these");
}

/// The list of a checkpoint's parts.
struct PartsListed {
  std::int64_t side = 0;
  hdf5::Type type{};
  std::vector<std::uint64_t> checksums;  ///< none: the checkpoint's file is the only one
};

/// Reads everything but particles from a checkpoint's file.
PartsListed read_head(Checkpoint& checkpoint) {
  std::string const name = checkpoint.path.string();
  auto reader = std::make_unique<hdf5::Reader>(checkpoint.path);
  hdf5::Reader const& file = *reader;
  std::string const kind = file.has_attribute("/", "format")
                               ? file.attribute_text("/", "format", sizeof format - 1)
                               : "";
  if (kind != format && kind != format_over_parts) fail_as_no_checkpoint(checkpoint.path, file);
  checkpoint.steps_done = file.attribute<std::int32_t>("/", "steps_done");
  checkpoint.scale_factors = read_list<double>(file, name, "scale_factors", most_scale_factors);
  auto const steps = static_cast<std::int64_t>(checkpoint.scale_factors.size()) - 1;
  if (checkpoint.steps_done < 0 || checkpoint.steps_done > steps || steps < 1)
    throw InputError(name + ": " + std::to_string(checkpoint.steps_done) + " of " +
                     std::to_string(steps) + " steps can't have been made: the file is damaged");

  auto const text = read_list<std::uint8_t>(file, name, "settings", most_text);
  checkpoint.texts = texts_in({text.begin(), text.end()}, name);
  find_paths_from(checkpoint.path.parent_path(), checkpoint.texts);
  Settings const settings = blaming(checkpoint.path, [&] {
    Settings const found = settings_of(checkpoint.texts);
    expects_slab_in_box(found);
    expects_bins(found);
    expects_steps_of(found, checkpoint.scale_factors);
    return found;
  });

  if (!settings.power_table.empty())
    checkpoint.table_checksum = file.attribute<std::uint64_t>("/", "power_table_checksum");
  std::int64_t const count = settings.particles * settings.particles * settings.particles;
  PartsListed listed{
      settings.particles,
      settings.precision == Precision::float32 ? hdf5::Type::float32 : hdf5::Type::float64,
      {}};
  if (kind == format) {
    checkpoint.parts.push_back({checkpoint.path, {0, count}, std::move(reader)});
    return listed;
  }
  std::string const letter = file.attribute_text("/", "letter", 1);
  auto const counts = read_list<std::int64_t>(file, name, "parts", most_parts);
  listed.checksums = read_list<std::uint64_t>(file, name, "checksums", most_parts);
  std::int64_t first = 0;
  for (std::int64_t const here : counts) {
    if (here < 1 || here > count - first) break;
    checkpoint.parts.push_back(
        {checkpoint_part(checkpoint.path, letter[0], static_cast<int>(checkpoint.parts.size())),
         {first, here},
         nullptr});
    first += here;
  }
  if (first != count || counts.size() != checkpoint.parts.size() ||
      listed.checksums.size() != counts.size() ||
      checkpoint_letters.find(letter[0]) == std::string_view::npos)
    throw InputError(name + ": its parts must have " + std::to_string(count) +
                     " particles together, and have " + std::to_string(first) +
                     ": the file is damaged");
  return listed;
}

}  // namespace

void detail::write_checkpoint_header(hdf5::Writer& file, std::filesystem::path const& folder,
                                     Settings const& settings,
                                     std::vector<double> const& scale_factors, int steps_done,
                                     bool has_parts) {
  file.write_attribute_text("/", "format", has_parts ? format_over_parts : format);
  file.write_attribute<std::int32_t>("/", "steps_done", steps_done);
  file.write("scale_factors", scale_factors);
  if (settings.table_checksum)
    file.write_attribute<std::uint64_t>("/", "power_table_checksum", *settings.table_checksum);
  std::string const text = all_texts(settings, folder.empty() ? "." : folder);
  file.write("settings", std::vector<std::uint8_t>(text.begin(), text.end()));
}

void detail::write_checkpoint_over_parts(std::filesystem::path const& path,
                                         Settings const& settings,
                                         std::vector<double> const& scale_factors, int steps_done,
                                         char letter, std::vector<std::int64_t> const& counts,
                                         std::vector<std::uint64_t> const& checksums) {
  hdf5::Writer file(path, {.checked = true});
  write_checkpoint_header(file, path.parent_path(), settings, scale_factors, steps_done, true);
  file.write_attribute_text("/", "letter", std::string(1, letter));
  file.write("parts", counts);
  file.write("checksums", checksums);
  file.commit();
  remove_other_parts(path, letter, static_cast<int>(counts.size()));
}

void detail::remove_parts_without_head(std::filesystem::path const& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return remove_other_parts(path, 0, 0);
  // A file over parts is small; what is larger has particles of its own, and no parts that must
  // stay.
  constexpr std::uintmax_t most_bytes = std::uintmax_t(1) << 27;
  if (std::filesystem::file_size(path, none) > most_bytes || none) return;
  try {
    expects_whole(path, {});
    hdf5::Reader const file(path);
    if (file.attribute_text("/", "format", sizeof format - 1) != format_over_parts)
      return remove_other_parts(path, 0, 0);
    auto const parts = read_list<std::int64_t>(file, path.string(), "parts", most_parts).size();
    remove_other_parts(path, file.attribute_text("/", "letter", 1)[0], static_cast<int>(parts));
  } catch (InputError const&) {
    // What it needs can't be told: everything stays.
  }
}

void remove_checkpoint(std::filesystem::path const& path) {
  std::error_code failed;
  if (std::filesystem::remove(path, failed) || !failed) return remove_other_parts(path, 0, 0);
  throw ResourceError(path.string() + " is of an earlier run, and can't be removed (" +
                      failed.message() + "): remove it, or name another --output");
}

Checkpoint read_checkpoint(distributed::Group const& ranks, std::filesystem::path const& path,
                           Poll const& poll) {
  Checkpoint checkpoint;
  std::error_code none;
  checkpoint.path = std::filesystem::is_directory(path, none) ? path / checkpoint_name : path;
  std::uint64_t checksum = 0;
  on_first(ranks, [&] {
    expects_whole(checkpoint.path, poll);
    checksum = io::stored_checksum(checkpoint.path);
  });
  ranks.broadcast(&checksum, sizeof checksum);
  std::string const name = checkpoint.path.string();
  PartsListed const listed = on_all(ranks, [&] {
    if (io::stored_checksum(checkpoint.path) != checksum)
      throw InputError("rank " + std::to_string(ranks.rank()) + " finds another " + name +
                       " than the first rank: name one in a folder that all ranks share");
    PartsListed found = read_head(checkpoint);
    if (!found.checksums.empty()) expects_own_name(checkpoint);
    return found;
  });
  // One rank looks at a part, and those who need some of it open it.
  on_all(ranks, [&] {
    for (std::size_t n = 0; n < listed.checksums.size(); ++n)
      if (static_cast<int>(n) % ranks.size() == ranks.rank())
        expects_part(checkpoint.parts[n].path, listed.checksums[n], name, poll);
  });
  on_all(ranks, [&] {
    auto const own = particles_of_rank(ranks, listed.side);
    for (auto& part : checkpoint.parts)
      if (own.first < part.particles.end() && part.particles.first < own.end())
        open_part(part, listed.type);
  });
  return checkpoint;
}

namespace {

/// A setting's text in a message, in which long lists would hide the rest.
std::string setting_in_words(Setting const& setting, std::string const& text) {
  if (text.empty()) return "not set";
  auto const values = split(text, ',');
  return setting.kind == SettingKind::list && values.size() > 4
             ? std::to_string(values.size()) + " values from " + values.front() + " to " +
                   values.back()
             : text;
}

/// What differs in a setting; of lists of the same length the first value that does.
std::string difference_of(Setting const& setting, std::string const& there,
                          std::string const& here) {
  auto const in_both = [&](std::string const& name, std::string const& a, std::string const& b) {
    return name + ": " + a + " there, " + b + " here";
  };
  auto const old = split(there, ','), now = split(here, ',');
  auto const [a, b] = std::ranges::mismatch(old, now);
  bool const in_one_value = setting.kind == SettingKind::list && old.size() == now.size() &&
                            old.size() > 1 && a != old.end();
  if (!in_one_value)
    return in_both(setting.name, setting_in_words(setting, there), setting_in_words(setting, here));
  return in_both("value " + std::to_string(a - old.begin() + 1) + " of " + setting.name, *a, *b);
}

}  // namespace

Settings settings_to_go_on(CommandLine const& line, Settings const& given,
                           Checkpoint const& checkpoint) {
  Settings merged = given;
  std::string differences;
  for (auto const& setting : setting_list()) {
    std::string const& stored = checkpoint.texts.at(setting.name);
    if (is_given(line, setting.name)) {
      std::string const now = setting.text(given);
      if (setting.name == "a-end") continue;  // a later one adds steps
      bool const is_same = setting.kind == SettingKind::path && !now.empty() && !stored.empty()
                               ? same_file(now, stored)
                               : now == stored;
      if (setting.physics && !is_same)
        differences += (differences.empty() ? "" : "; ") + difference_of(setting, stored, now);
    } else if (!stored.empty()) {
      setting.set(merged, stored);
    }
  }
  expects(differences.empty(), "this run's physics isn't that of " + checkpoint.path.string() +
                                   " (" + differences +
                                   "): leave these options out, or start a new run");
  if (is_given(line, "a-end") && exact_text(given.a_end) != checkpoint.texts.at("a-end"))
    merged.scale_factors = with_later_end(merged, checkpoint.scale_factors, given.a_end);
  return merged;
}

}  // namespace coir::apps::nbody
