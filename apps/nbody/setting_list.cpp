#include "setting_list.hpp"

#include <coir/core/errors.hpp>

#include <support/config_file.hpp>
#include <support/options.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <limits>
#include <regex>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace coir::apps::nbody {

namespace {

using coir::nbody::Spacing;
using Parameters = cosmology::Parameters<double>;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::string option(std::string const& name) { return "--" + name; }

/// A function that gives a member of settings, const or not, or a member of a member.
template <class Member>
auto member(Member Settings::* of_settings) {
  return [=](auto& s) -> auto& { return s.*of_settings; };
}
template <class Outer, class Member>
auto member(Outer Settings::* outer, Member Outer::* of_outer) {
  return [=](auto& s) -> auto& { return s.*outer.*of_outer; };
}

/// \param at  as member() gives it
template <class At>
Setting whole_number(std::string name, At at, std::int64_t lowest, std::int64_t highest,
                     std::string help, bool physics = true) {
  return {.name = name,
          .kind = SettingKind::number,
          .type_name = "N",
          .help = std::move(help),
          .physics = physics,
          .set =
              [=](Settings& s, std::string const& text) {
                using Value = std::remove_reference_t<decltype(at(s))>;
                at(s) = static_cast<Value>(parse_whole_number(option(name), text, lowest, highest));
              },
          .text = [=](Settings const& s) { return std::to_string(at(s)); }};
}

template <class At>
Setting number(std::string name, At at, std::string help) {
  return {.name = name,
          .kind = SettingKind::number,
          .type_name = "X",
          .help = std::move(help),
          .physics = true,
          .set = [=](Settings& s,
                     std::string const& text) { at(s) = parse_number(option(name), text); },
          .text = [=](Settings const& s) { return exact_text(at(s)); }};
}

/// A number within a range.
template <class At>
Setting number_from(std::string name, At at, double least, double most, std::string help) {
  Setting setting = number(name, at, std::move(help));
  setting.set = [=](Settings& s, std::string const& text) {
    double const value = parse_number(option(name), text);
    expects(value >= least && value <= most,
            option(name) + " must be from " + in_words(least) + " to " + in_words(most), value);
    at(s) = value;
  };
  return setting;
}

template <class At>
Setting positive_number(std::string name, At at, std::string help) {
  Setting setting = number(name, at, std::move(help));
  setting.set = [=](Settings& s, std::string const& text) {
    at(s) = parse_positive_number(option(name), text);
  };
  return setting;
}

/// \param read     the value of a word; throws PreconditionError
/// \param name_of  the word of a value
template <class At, class Read, class NameOf>
Setting word(std::string name, At at, Read read, NameOf name_of, std::string words,
             std::string help) {
  return {.name = name,
          .kind = SettingKind::word,
          .type_name = std::move(words),
          .help = std::move(help),
          .physics = true,
          .set = [=](Settings& s, std::string const& text) { at(s) = read(text); },
          .text = [=](Settings const& s) { return std::string(name_of(at(s))); }};
}

template <class At>
using ValueOf = std::remove_cvref_t<decltype(std::declval<At>()(std::declval<Settings&>()))>;

/// One of a few words.
template <class At>
Setting choice(std::string name, At at, std::vector<std::pair<std::string, ValueOf<At>>> choices,
               std::string help) {
  std::vector<std::string> words;
  for (auto const& entry : choices) words.push_back(entry.first);
  auto const read = [=](std::string const& text) {
    for (auto const& [word, value] : choices)
      if (word == text) return value;
    reject_choice(option(name), text, words);
  };
  auto const name_of = [=](ValueOf<At> value) {
    for (auto const& entry : choices)
      if (entry.second == value) return entry.first;
    return std::string();
  };
  return word(name, at, read, name_of, joined(words, "|"), std::move(help));
}

template <class At>
Setting flag(std::string name, At at, std::string help, bool physics = true) {
  return {.name = name,
          .kind = SettingKind::flag,
          .type_name = "",
          .help = std::move(help),
          .physics = physics,
          .set = [=](Settings& s, std::string const& text) { at(s) = text == "true"; },
          .text = [=](Settings const& s) { return std::string(at(s) ? "true" : "false"); }};
}

template <class At>
Setting numbers(std::string name, At at, std::string help, bool physics) {
  return {.name = name,
          .kind = SettingKind::list,
          .type_name = "A,A,...",
          .help = std::move(help),
          .physics = physics,
          .set =
              [=](Settings& s, std::string const& text) {
                at(s).clear();
                for (auto const& part : split(text, ','))
                  at(s).push_back(parse_positive_number(option(name), part));
              },
          .text =
              [=](Settings const& s) {
                std::string text;
                for (double const a : at(s)) text += (text.empty() ? "" : ", ") + exact_text(a);
                return text;
              }};
}

template <class At>
Setting input_file(std::string name, At at, std::string help) {
  return {.name = name,
          .kind = SettingKind::path,
          .type_name = "FILE",
          .help = std::move(help),
          .physics = true,
          .set =
              [=](Settings& s, std::string const& text) {
                expects(!text.empty(), option(name) + " must name a file, not ''");
                std::filesystem::path const path = std::filesystem::absolute(text);
                expects(path.string().find_first_of("\r\n") == std::string::npos,
                        option(name) +
                            " must name a file without line breaks, which a checkpoint couldn't "
                            "hold",
                        path.string());
                at(s) = path;
              },
          .text = [=](Settings const& s) { return at(s).string(); }};
}

/// One of two numbers that exclude each other: its text is empty where it is 0, and setting it
/// clears the other one.
template <class At, class Other>
Setting amplitude(std::string name, At at, Other other, std::string help) {
  Setting setting = positive_number(name, at, std::move(help));
  setting.set = [=, set = setting.set](Settings& s, std::string const& text) {
    set(s, text);
    other(s) = 0;
  };
  setting.text = [=](Settings const& s) { return at(s) > 0 ? exact_text(at(s)) : std::string(); };
  return setting;
}

/// A run may go on with another value.
Setting not_physics(Setting setting) {
  setting.physics = false;
  return setting;
}

/// Without a text while it is 0.
Setting without_zero(Setting setting) {
  setting.text = [text = setting.text](Settings const& s) {
    std::string const found = text(s);
    return found == "0" ? std::string() : found;
  };
  return setting;
}

/// Without a text where other settings take its place.
///
/// \param counts  whether it counts beside the others
Setting only_if(bool (*counts)(Settings const&), Setting setting) {
  setting.text = [=, text = setting.text](Settings const& s) {
    return counts(s) ? text(s) : std::string();
  };
  return setting;
}

bool has_equal_steps(Settings const& s) { return s.scale_factors.empty(); }
bool has_no_snapshot(Settings const& s) { return s.start.empty(); }
bool has_a_seed(Settings const& s) { return s.noise.empty() && s.start.empty(); }
bool has_table(Settings const& s) { return !s.power_table.empty(); }
bool has_no_table(Settings const& s) { return s.power_table.empty(); }
bool has_sigma8(Settings const& s) { return s.power_table.empty() || s.renormalise; }

std::vector<Setting> particles_and_forces() {
  using coir::nbody::ForceSource;
  using mesh::Assignment, mesh::Softening;
  return {
      whole_number("particles", member(&Settings::particles), 1, 16384,
                   "Particles along a side, so N^3 in all (default 64)"),
      positive_number("box", member(&Settings::box),
                      "Length of the periodic box in Mpc/h (default 100)"),
      number_from("mesh-ratio", member(&Settings::mesh_ratio), 1, 4,
                  "Cells of the force mesh along a side, per particle, from 1 to 4 (default 2)"),
      choice("assignment", member(&Settings::assignment),
             {{"cic", Assignment::cic}, {"tsc", Assignment::tsc}, {"pcs", Assignment::pcs}},
             "How a particle is shared among cells: 2, 3 or 4 along an axis (default cic)"),
      word(
          "kernel", member(&Settings::kernel), mesh::force_kernel_named,
          [](mesh::ForceKernel kernel) { return mesh::name_of(kernel); },
          "naive|1_4|3_4|5_4|3_2|eastwood|gadget",
          "How the Laplacian and the gradient are discretised (default 1_4)"),
      choice("softening", member(&Settings::softening),
             {{"automatic", {}},
              {"none", Softening::none},
              {"two_thirds", Softening::two_thirds},
              {"gaussian", Softening::gaussian},
              {"gadget", Softening::gadget},
              {"steep", Softening::steep}},
             "What damps forces near the mesh's finest waves (default automatic: none, but for "
             "kernels that make false structure without)"),
      flag("allow-false-structure", member(&Settings::allow_false_structure),
           "Run kernels and softenings even where they make false structure"),
      choice("force-source", member(&Settings::force_source),
             {{"automatic", ForceSource::automatic},
              {"vectors", ForceSource::vectors},
              {"potential", ForceSource::potential}},
             "A mesh of forces, or differences of the potential at each particle, which take a "
             "third of the memory (default automatic)"),
      choice("precision", member(&Settings::precision),
             {{"single", Precision::float32}, {"double", Precision::float64}},
             "Kind of number (default single)"),
      flag("deterministic", member(&Settings::deterministic),
           "Give the same bits in every run, for any number of threads, and on hosts of ranks"),
  };
}

std::vector<Setting> time() {
  return {
      word(
          "stepper", member(&Settings::stepper), coir::nbody::stepper_named,
          [](coir::nbody::Stepper stepper) { return coir::nbody::name_of(stepper); },
          "fastpm|plain|bullfrog", "The integrator (default fastpm)"),
      only_if(has_equal_steps,
              whole_number(
                  "steps", member(&Settings::steps), 1, 1'000'000,
                  "Steps from the start to the end; outputs between them add some (default 20)")),
      only_if(has_equal_steps, positive_number("a-start", member(&Settings::a_start),
                                               "Scale factor at the start (default 0.1)")),
      only_if(has_equal_steps, positive_number("a-end", member(&Settings::a_end),
                                               "Scale factor at the end, 1 today (default 1)")),
      only_if(has_equal_steps,
              choice("spacing", member(&Settings::spacing),
                     {{"linear", Spacing::linear}, {"logarithmic", Spacing::logarithmic}},
                     "Equal steps of a, or of ln a (default linear)")),
      numbers("scale-factors", member(&Settings::scale_factors),
              "The start and the end of each step, in place of the four above", true),
  };
}

std::vector<Setting> start() {
  return {
      only_if(has_no_snapshot,
              whole_number("lpt", member(&Settings::lpt), 1, 2,
                           "Order of Lagrangian perturbation theory at the start (default 2)")),
      only_if(has_a_seed,
              whole_number("seed", member(&Settings::random, &coir::nbody::NoiseOptions::seed), 0,
                           no_limit, "What the random field depends on (default 1)")),
      only_if(has_no_snapshot,
              flag("fixed-amplitude",
                   member(&Settings::random, &coir::nbody::NoiseOptions::fixed_amplitude),
                   "Give all modes their mean amplitude; only phases are random")),
      only_if(has_no_snapshot,
              flag("inverted", member(&Settings::random, &coir::nbody::NoiseOptions::inverted),
                   "Turn the random field around: the other one of a pair")),
      input_file("noise", member(&Settings::noise),
                 "White noise in place of the seed's: .npy, (N, N, N)"),
      input_file("start", member(&Settings::start),
                 "Start from the particles of a snapshot in GADGET's format, at its scale factor"),
  };
}

std::vector<Setting> universe() {
  auto const sigma8 = member(&Settings::cosmology, &Parameters::sigma8);
  auto const a_s = member(&Settings::cosmology, &Parameters::A_s);
  using cosmology::TransferFunction;
  return {
      number_from(
          "omega-m", member(&Settings::cosmology, &Parameters::omega_m), -1000, 1000,
          "Matter today over the critical density (default 0.3111, as all here by Planck 2018)"),
      only_if(has_no_table,
              number_from("omega-b", member(&Settings::cosmology, &Parameters::omega_b), -1000,
                          1000, "Baryons, part of it (default 0.04897...)")),
      number_from("h", member(&Settings::cosmology, &Parameters::h), -1000, 1000,
                  "Hubble's constant over 100 km/s/Mpc (default 0.6766)"),
      only_if(has_no_table, number_from("n-s", member(&Settings::cosmology, &Parameters::n_s), -10,
                                        10, "Index of the primordial spectrum (default 0.9665)")),
      only_if(has_sigma8,
              amplitude(
                  "sigma8", sigma8, a_s,
                  "Amplitude: rms of linear matter in spheres of 8 Mpc/h today (default 0.8102)")),
      only_if(has_no_table,
              amplitude("A-s", a_s, sigma8, "Amplitude: of the primordial spectrum at 0.05 / Mpc")),
      number_from("omega-k", member(&Settings::cosmology, &Parameters::omega_k), -1000, 1000,
                  "Curvature, above 0 if space is open (default 0)"),
      number_from("omega-r", member(&Settings::cosmology, &Parameters::omega_r), -1000, 1000,
                  "Radiation (default 0)"),
      number_from("w0", member(&Settings::cosmology, &Parameters::w0), -1000, 1000,
                  "Dark energy's pressure over density is w0 + (1 - a) wa (default -1)"),
      number_from("wa", member(&Settings::cosmology, &Parameters::wa), -1000, 1000,
                  "See --w0 (default 0)"),
      only_if(has_no_table,
              number_from("t-cmb", member(&Settings::cosmology, &Parameters::t_cmb), -1000, 1000,
                          "Temperature of the background radiation in K (default 2.7255)")),
      only_if(
          has_no_table,
          choice(
              "transfer", member(&Settings::transfer),
              {{"eisenstein_hu", TransferFunction::eisenstein_hu},
               {"no_wiggle", TransferFunction::no_wiggle}},
              "Transfer function, with or without acoustic oscillations (default eisenstein_hu)")),
      input_file("power-table", member(&Settings::power_table),
                 "The linear P(k) in its place: columns k in h/Mpc and P in (Mpc/h)^3"),
      only_if(has_table, number_from("table-redshift", member(&Settings::table_redshift), 0, 1100,
                                     "Redshift that the table is of: it is scaled to others by "
                                     "linear growth (default 0)")),
      flag("renormalise", member(&Settings::renormalise),
           "Multiply the table by what makes its sigma8 that of --sigma8"),
  };
}

std::vector<Setting> output() {
  Setting thickness{
      .name = "slab-thickness",
      .kind = SettingKind::number,
      .type_name = "X",
      .help = "Depth of the slab that is shown, in Mpc/h (default a sixteenth of the box)",
      .physics = false,
      .set =
          [](Settings& s, std::string const& text) {
            s.slab_thickness = parse_positive_number("--slab-thickness", text);
          },
      .text = [](Settings const& s) { return exact_text(s.slab()); }};
  Setting pixels{
      .name = "pixels",
      .kind = SettingKind::number,
      .type_name = "N",
      .help = "Pixels of pictures along a side (default 512 or more, a multiple of --particles)",
      .physics = false,
      .set =
          [](Settings& s, std::string const& text) {
            s.pixels = static_cast<int>(parse_whole_number("--pixels", text, 1, 32768));
          },
      .text = [](Settings const& s) { return std::to_string(s.picture_side()); }};
  return {
      numbers("outputs", member(&Settings::outputs),
              "Scale factors to write at, beside the end; steps are made to end there", false),
      not_physics(
          choice("name-by", member(&Settings::named_by),
                 {{"a", NamedBy::scale_factor}, {"z", NamedBy::redshift}},
                 "Scale factor or redshift in names of files: power_a0.500.txt or power_z1.000.txt "
                 "(default a)")),
      flag("pictures", member(&Settings::pictures),
           "Write pictures of a slab and of the whole box, and their numbers (default)", false),
      flag("spectra", member(&Settings::spectra), "Write power spectra (default)", false),
      flag("multipoles", member(&Settings::multipoles),
           "Write the spectrum in redshift space, seen along the third axis: monopole, quadrupole, "
           "hexadecapole",
           false),
      without_zero(whole_number(
          "bins", member(&Settings::bins), 1, 1'000'000,
          "Bins of spectra (default: one for each multiple of the fundamental)", false)),
      not_physics(
          choice("bin-spacing", member(&Settings::logarithmic_bins),
                 {{"linear", false}, {"logarithmic", true}},
                 "Bins of equal width in k, or in ln k, which needs --bins (default linear)")),
      without_zero(not_physics(positive_number(
          "k-min", member(&Settings::k_min),
          "Where the first bin begins, in h/Mpc (default: the fundamental, 2 pi / box)"))),
      without_zero(not_physics(positive_number(
          "k-max", member(&Settings::k_max),
          "Where the last bin ends (default: the Nyquist frequency of the force mesh)"))),
      flag("density", member(&Settings::density),
           "Write the density on the force mesh over its mean: .npy, (M, M, M)", false),
      flag("snapshots", member(&Settings::snapshots), "Write particles in GADGET's format", false),
      only_if(has_a_seed,
              flag("white-noise", member(&Settings::white_noise),
                   "Write the white noise of --seed, which --noise reads: .npy, (N, N, N)", false)),
      thickness,
      pixels,
      without_zero(whole_number("checkpoint", member(&Settings::checkpoint), 1, 1'000'000,
                                "Write a checkpoint after every N steps", false)),
  };
}

std::string toml_value(Setting const& setting, std::string const& text) {
  switch (setting.kind) {
    case SettingKind::word:
    case SettingKind::path: return toml_string(text);
    case SettingKind::list: return '[' + text + ']';
    default: return text;
  }
}

/// The text of a setting in a file of `folder`.
std::string text_in(std::filesystem::path const& folder, Setting const& setting,
                    Settings const& settings) {
  std::string const text = setting.text(settings);
  bool const is_path = setting.kind == SettingKind::path && !text.empty() && !folder.empty();
  return is_path ? path_from(folder, text).string() : text;
}

}  // namespace

std::vector<Setting> const& setting_list() {
  static std::vector<Setting> const all = [] {
    std::vector<Setting> result;
    auto const add = [&](std::string const& group, std::vector<Setting> some) {
      for (auto& setting : some) {
        setting.group = group;
        result.push_back(std::move(setting));
      }
    };
    add("Particles and forces", particles_and_forces());
    add("Time", time());
    add("Start", start());
    add("Universe", universe());
    add("Output", output());
    return result;
  }();
  return all;
}

std::string config_text(Settings const& settings, std::filesystem::path const& folder) {
  std::string text, group;
  for (auto const& setting : setting_list()) {
    std::string const value = text_in(folder, setting, settings);
    if (value.empty()) continue;
    if (setting.group != group) text += "\n# " + setting.group + "\n";
    group = setting.group;
    text += setting.name + " = " + toml_value(setting, value) + "\n";
  }
  return text;
}

std::string with_option_names(std::string const& message) {
  static std::regex const parameters("\\b(omega_[mbkr]|n_s|sigma8|A_s|w0|wa|t_cmb)\\b|\\bset h\\b");
  std::string text;
  auto const begin = std::sregex_iterator(message.begin(), message.end(), parameters);
  std::size_t last = 0;
  for (auto match = begin; match != std::sregex_iterator(); ++match) {
    text += message.substr(last, static_cast<std::size_t>(match->position()) - last);
    std::string name = match->str();
    std::replace(name.begin(), name.end(), '_', '-');
    text += name == "set h" ? "set --h" : "--" + name;
    last = static_cast<std::size_t>(match->position() + match->length());
  }
  return text + message.substr(last);
}

std::string all_texts(Settings const& settings, std::filesystem::path const& folder) {
  std::string text;
  for (auto const& setting : setting_list())
    text += setting.name + " = " + text_in(folder, setting, settings) + "\n";
  return text;
}

std::filesystem::path path_from(std::filesystem::path const& folder,
                                std::filesystem::path const& path) {
  std::error_code none;
  // Links in names of folders are followed, as ".." is by the system; the last name is the user's.
  auto const here = std::filesystem::weakly_canonical(std::filesystem::absolute(folder), none);
  auto const absolute = std::filesystem::absolute(path);
  auto const there =
      std::filesystem::weakly_canonical(absolute.parent_path(), none) / absolute.filename();
  auto const first_name = [](std::filesystem::path const& from_root) {
    auto const below = from_root.relative_path();
    return below.empty() ? below : *below.begin();
  };
  bool const is_near = !here.relative_path().empty() && first_name(here) == first_name(there);
  return is_near ? there.lexically_relative(here) : absolute;
}

}  // namespace coir::apps::nbody
