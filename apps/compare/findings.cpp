#include "present.hpp"

#include <support/median.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <cstdio>

namespace coir::apps::compare {

namespace {

std::string works_text(std::size_t count) { return counted(static_cast<int>(count), "works"); }

/// How many times as fast as the first contestant another one is at the largest sizes.
std::string speeds_of(Analysis const& analysis, std::size_t contestant) {
  std::vector<double> ratios;
  for (auto const& panel : analysis.panels)
    if (auto const ratio = speed_up(telling_line(panel), contestant)) ratios.push_back(*ratio);
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  std::string const label = analysis.contestants[contestant].label;
  if (ratios.size() == 1)
    return label + " is " + times_text(ratios.front()) + " times as fast in 1 work";
  return label + " is " + times_text(ratios.front()) + " to " + times_text(ratios.back()) +
         " times as fast (median of " + works_text(ratios.size()) + ": " +
         times_text(median_of(ratios)) + ")";
}

/// At which sizes another contestant is the faster one.
std::string sizes_of(Analysis const& analysis, std::size_t contestant) {
  std::size_t always = 0, beyond = 0, below = 0, never = 0, untold = 0;
  for (auto const& panel : analysis.panels) switch (panel.overtakings[contestant].kind) {
      case Overtaking::always: ++always; break;
      case Overtaking::from: ++beyond; break;
      case Overtaking::until: ++below; break;
      case Overtaking::never: ++never; break;
      case Overtaking::unclear:
      case Overtaking::once: ++untold; break;
      case Overtaking::unknown: break;
    }
  std::vector<std::string> parts;
  auto const add = [&](std::size_t count, char const* where) {
    if (count > 0) parts.push_back(where + (" in " + works_text(count)));
  };
  add(always, "faster at every size");
  add(beyond, "faster from some size on");
  add(below, "faster at small sizes alone");
  add(never, "never faster");
  add(untold, "not known to be either");
  if (parts.empty()) return {};
  return analysis.contestants[contestant].label + " is " + joined(parts, ", ");
}

template <class Words>
std::string of_others(Analysis const& analysis, Words const& words) {
  std::vector<std::string> parts;
  for (std::size_t c = 1; c < analysis.contestants.size(); ++c)
    if (auto const text = words(analysis, c); !text.empty()) parts.push_back(text);
  return joined(parts, "; ");
}

/// The shares that a single contestant reaches at its largest sizes, in rising order, with the
/// works' titles.
std::vector<std::pair<double, std::string>> shares_of(Analysis const& analysis) {
  std::vector<std::pair<double, std::string>> shares;
  for (auto const& panel : analysis.panels)
    if (auto const& point = telling_line(panel).points.front(); point && point->share)
      shares.emplace_back(*point->share, panel.work->title);
  std::sort(shares.begin(), shares.end());
  return shares;
}

std::vector<std::string> findings_of_one(Analysis const& analysis) {
  auto const shares = shares_of(analysis);
  if (shares.empty()) return {"No row has a limit to be measured against."};
  constexpr double near = 0.7;
  auto const is_near = [](auto const& share) { return share.first >= near; };
  auto const count = std::count_if(shares.begin(), shares.end(), is_near);
  std::vector<std::string> lines{
      "At their largest sizes " + std::to_string(count) + " of " + works_text(shares.size()) +
      " move their bytes at " + percent(near) +
      " or more of what memory or the link can: fewer bytes alone would make them faster."};
  if (shares.front().first < near) {
    std::vector<std::string> farthest;
    for (std::size_t n = 0; n < std::min<std::size_t>(3, shares.size()); ++n)
      if (shares[n].first < near)
        farthest.push_back(shares[n].second + " (" + percent(shares[n].first) + ")");
    lines.push_back("Farthest from it are " + joined(farthest, ", ") +
                    ", which arithmetic, latency or further passes over memory bound.");
  } else {
    lines.emplace_back("None is bound by anything else.");
  }
  return lines;
}

std::string noise_text(Noise const& noise) {
  char text[256];
  if (noise.rows == 0)
    return "Every row was measured in one round, which tells nothing of noise: on a machine that "
           "does other things, too, "
           "even large differences may be none.";
  if (noise.restless == 0) {
    std::snprintf(text, sizeof text,
                  "The rounds agree: the slowest one of a row took %.2f times as long as the "
                  "fastest at most, %.2f times "
                  "in the middle of %zu rows.",
                  noise.worst_spread, noise.typical, noise.rows);
    return text;
  }
  std::snprintf(text, sizeof text,
                "The machine was busy: in %zu of %zu rows the slowest round took more than %.1f "
                "times as long as the "
                "fastest, up to %.1f times",
                noise.restless, noise.rows, most_spread, noise.worst_spread);
  return text + (" (" + noise.worst->build + ", " + noise.worst->work + "/" +
                 noise.worst->size_text + "). Differences as small as that tell nothing; measure " +
                 "again when nothing else runs.");
}

}  // namespace

std::vector<std::string> findings(Analysis const& analysis) {
  std::vector<std::string> lines;
  if (analysis.contestants.size() < 2) {
    lines = findings_of_one(analysis);
  } else {
    std::string const& first = analysis.contestants.front().label;
    if (auto const text = of_others(analysis, speeds_of); !text.empty())
      lines.push_back("Beside " + first + ", at the largest sizes: " + text + ".");
    if (auto const text = of_others(analysis, sizes_of); !text.empty())
      lines.push_back("Over all sizes: " + text + ".");
    if (lines.empty()) lines.emplace_back("No work was measured on two of these.");
  }
  lines.push_back(noise_text(analysis.noise));
  return lines;
}

std::vector<std::string> doubts(Analysis const& analysis) {
  std::vector<std::string> lines;
  char text[160];
  Machine const* machine = nullptr;
  for (auto const& contestant : analysis.contestants) {
    if (contestant.machine != machine) {
      machine = contestant.machine;
      constexpr double least = 0.1;  // of a processor: what systems do besides is less
      if (auto const others = machine->processors_of_others; others && *others >= least) {
        std::snprintf(text, sizeof text, ": other programs kept %.2g processors at work meanwhile.",
                      *others);
        lines.push_back(machine->name + text);
      }
    }
    Report const& info = contestant.build->info;
    if (!info.is_object() || !info.contains("host") || !info["host"].is_object()) continue;
    Report const quota = info["host"].value("processor_quota", Report());
    int const threads = contestant.build->threads;
    if (!quota.is_number() || !(quota.get<double>() < threads)) continue;
    std::snprintf(text, sizeof text,
                  ": a quota of its container grants %.3g processors to %d threads.",
                  quota.get<double>(), threads);
    lines.push_back(contestant.label + text);
  }
  return lines;
}

}  // namespace coir::apps::compare
