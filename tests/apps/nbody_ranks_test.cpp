#include <apps/nbody_fixture.hpp>
#include <apps/ranks_fixture.hpp>

#include <coir/core/concepts.hpp>
#include <coir/core/memory.hpp>
#include <coir/hdf5/gadget.hpp>

#include <support/sanitizers.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace coir::testing;

/// For tests of files alone, which need no GPU and the time to start on it.
std::string const on_cores = "--backend cpu --quiet ";

/// More than one step, an output on the way, every kind of file, and the same bits on any number of
/// ranks.
std::string const all_kinds =
    "--particles 12 --steps 4 --pixels 24 --outputs 0.55 --snapshots --density --multipoles "
    "--white-noise --deterministic --quiet ";

class NbodyOnRanks : public coir::testing::OnRanks<coir::testing::Nbody> {
 protected:
  using Particle = std::array<float, 6>;

  /// The particles of a snapshot by their IDs, from all of its files.
  std::map<std::uint64_t, Particle> snapshot(std::string const& name, int files) const {
    std::map<std::uint64_t, Particle> all;
    for (int n = 0; n < files; ++n) {
      auto const path = folder / (name + (files > 1 ? "." + std::to_string(n) : "") + ".hdf5");
      auto const header = coir::hdf5::read_gadget<float>(path, [&](auto const& block) {
        for (std::size_t p = 0; p < block.ids.size(); ++p) {
          Particle particle;
          std::copy_n(block.positions.begin() + static_cast<std::ptrdiff_t>(3 * p), 3,
                      particle.begin());
          std::copy_n(block.velocities.begin() + static_cast<std::ptrdiff_t>(3 * p), 3,
                      particle.begin() + 3);
          EXPECT_TRUE(all.emplace(block.ids[p], particle).second) << "twice: " << block.ids[p];
        }
      });
      EXPECT_EQ(header.files, files);
      EXPECT_EQ(header.particles_total, 12 * 12 * 12);
    }
    EXPECT_EQ(all.size(), 12u * 12 * 12);
    return all;
  }

  std::set<std::string> checkpoint_files(std::string const& below) const {
    std::set<std::string> found;
    for (auto const& name : files(below))
      if (name.starts_with("checkpoint.")) found.insert(name);
    return found;
  }
};

TEST_F(NbodyOnRanks, GrowTheUniverseOfOne) {
  run_on(1, all_kinds + "--output one");
  for (int const ranks : {2, 3}) {
    std::string const many = std::to_string(ranks);
    run_on(ranks, all_kinds + "--output " + many);
    for (auto const& name : files("one"))
      if (!name.starts_with("snapshot"))
        EXPECT_TRUE(read_text(folder / "one" / name) == read_text(folder / many / name))
            << name << " on " << ranks;
    for (std::string const a : {"0.550", "1.000"})
      EXPECT_EQ(snapshot("one/snapshot_a" + a, 1), snapshot(many + "/snapshot_a" + a, ranks)) << a;
    EXPECT_EQ(files(many).size(), files("one").size() + 2 * static_cast<std::size_t>(ranks - 1));
  }
}

// A good run is one on several ranks, too: with a spectral gradient, whose ghost planes hold whole
// numbers.
TEST_F(NbodyOnRanks, GrowBySpectralGradients) {
  std::string const run =
      "--particles 8 --box 20 --steps 60 --kernel naive --assignment pcs --deterministic --seed 9 "
      "--softening two_thirds --no-pictures --snapshots --quiet --output ";
  run_on(1, run + "one");
  run_on(4, run + "four");
  EXPECT_EQ(read_text(folder / "one/power_a1.000.txt"),
            read_text(folder / "four/power_a1.000.txt"));
}

TEST_F(NbodyOnRanks, MoreOfThemThanPlanesOfParticles) {
  std::string const few = "--particles 3 --steps 2 --pixels 9 --snapshots --deterministic --quiet ";
  run_on(1, few + "--output one");
  run_on(5, few + "--checkpoint 1 --output many");
  EXPECT_EQ(read_text(folder / "one/power_a1.000.txt"),
            read_text(folder / "many/power_a1.000.txt"));
  // On an H100 the picture of so few particles differed: transforms on devices have other bits in
  // parts.
  if (coir::runs_on_host<Kokkos::DefaultExecutionSpace>)
    EXPECT_TRUE(read_text(folder / "one/slab_a1.000.npy") ==
                read_text(folder / "many/slab_a1.000.npy"));
  EXPECT_TRUE(fs::exists(folder / "many/snapshot_a1.000.2.hdf5"));
  EXPECT_FALSE(fs::exists(folder / "many/snapshot_a1.000.3.hdf5"));
  EXPECT_EQ(checkpoint_files("many").size(), 1u + 3);
}

TEST_F(NbodyOnRanks, GoOnFromCheckpointsOfAnyNumber) {
  run_on(1, all_kinds + "--output whole --checkpoint 2");
  auto const whole = snapshot("whole/snapshot_a1.000", 1);
  for (auto const& [before, after] : {std::pair{1, 3}, std::pair{4, 2}, std::pair{3, 1}}) {
    std::string const name = std::to_string(before) + "to" + std::to_string(after);
    run_on(before, all_kinds + "--checkpoint 2 --stop-after 2 --output " + name);
    EXPECT_EQ(checkpoint_files(name).size(), before == 1 ? 1u : 1u + static_cast<unsigned>(before));
    run_on(after, "--quiet --restart " + name);
    EXPECT_EQ(snapshot(name + "/snapshot_a1.000", after), whole) << name;
    // Parts of checkpoints that were replaced are gone.
    EXPECT_EQ(checkpoint_files(name).size(), after == 1 ? 1u : 1u + static_cast<unsigned>(after));
  }
}

TEST_F(NbodyOnRanks, RefuseACheckpointWithoutAPartOrWithAnothers) {
  std::string const run = on_cores + "--particles 8 --steps 2 --no-pictures --stop-after 1 ";
  run_on(2, run + "--output one");
  run_on(2, run + "--seed 2 --output other");
  fs::copy(folder / "one", folder / "lacking");
  fs::remove(folder / "lacking/checkpoint.a.1.hdf5");
  for (int const ranks : {1, 3})
    expect_error(on(ranks, on_cores + "--restart lacking"), 3,
                 {"lacking/checkpoint.a.1.hdf5 is missing, a part of lacking/checkpoint.hdf5",
                  "copy all files of a checkpoint together"});
  fs::copy(folder / "one", folder / "mixed");
  fs::copy_file(folder / "other/checkpoint.a.1.hdf5", folder / "mixed/checkpoint.a.1.hdf5",
                fs::copy_options::overwrite_existing);
  expect_error(on(3, on_cores + "--restart mixed"), 3,
               {"mixed/checkpoint.a.1.hdf5 isn't the part that mixed/checkpoint.hdf5 was written "
                "with: it belongs to another checkpoint, or is damaged"});
  std::string bytes = read_text(folder / "one/checkpoint.a.0.hdf5");
  bytes[bytes.size() / 2] ^= 1;
  write("one/checkpoint.a.0.hdf5", bytes);
  expect_error(on(2, on_cores + "--restart one"), 3,
               {"one/checkpoint.a.0.hdf5 isn't what its checksum is of"});
}

TEST_F(NbodyOnRanks, AreToldWhichFileOfACheckpointToName) {
  std::string const run = on_cores + "--particles 8 --steps 2 --no-pictures --stop-after 1 ";
  run_on(2, run + "--output run");
  auto const copied = [&](std::string const& name) {
    fs::copy_file(folder / "run" / name.substr(0, name.find(' ')),
                  folder / name.substr(name.find(' ') + 1));
  };
  for (int const ranks : {1, 2}) {
    expect_error(on(ranks, on_cores + "--restart run/checkpoint.a.1.hdf5"), 3,
                 {"run/checkpoint.a.1.hdf5 is one rank's part of a checkpoint: name "
                  "run/checkpoint.hdf5, the file over all parts, or its folder"});
    fs::rename(folder / "run/checkpoint.hdf5", folder / "run/of_friday.hdf5");
    expect_error(on(ranks, on_cores + "--restart run/of_friday.hdf5"), 3,
                 {"run/of_friday.hdf5 was named checkpoint.hdf5 when its parts, "
                  "checkpoint.a.0.hdf5 and so on, were written: give it that name again, in a "
                  "folder with these"});
    fs::rename(folder / "run/of_friday.hdf5", folder / "run/checkpoint.hdf5");
  }
  copied("checkpoint.a.0.hdf5 part.hdf5");
  expect_error(on(1, on_cores + "--restart part.hdf5"), 3,
               {"part.hdf5 is one rank's part of a checkpoint: name the file over all parts, "
                "checkpoint.hdf5, or its folder"});
  // All of them by another name belong together again.
  fs::create_directory(folder / "again");
  copied("checkpoint.hdf5 again/friday.hdf5");
  for (std::string const part : {"0", "1"})
    copied("checkpoint.a." + part + ".hdf5 again/friday.a." + part + ".hdf5");
  run_on(2, on_cores + "--restart again/friday.hdf5");
}

TEST_F(NbodyOnRanks, MustFindTheSameCheckpoint) {
  std::string const run = on_cores + "--particles 8 --steps 2 --no-pictures --stop-after 1 ";
  for (std::string const seed : {"1", "2"}) {
    fs::create_directory(folder / seed);
    run_on(2, run + "--seed " + seed + " --output " + seed + "/run");
  }
  auto const in = [&](std::string const& where) {
    return "sh -c 'cd " + where + "; exec " COIR_APP " " + on_cores + "--restart run'";
  };
  expect_error(launch("1 " + in("1") + " : -n 1 " + in("2")), 3,
               {"rank 1 finds another run/checkpoint.hdf5 than the first rank"});
}

TEST_F(NbodyOnRanks, NeedTheSameOptions) {
  expect_error(
      launch("1 " COIR_APP " --particles 8 --quiet : -n 1 " COIR_APP " --particles 16 --quiet"), 2,
      {"all ranks must be given the same --particles: it is 8 on rank 0 and 16 on rank 1"});
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(NbodyOnRanks, AreRefusedWithoutTheMemoryForAllOfThem) {
  // On the cores, where the memory is the machine's, and where kernels run: on a device all ranks'
  // there.
  std::string const what = "a run of 1625^3 particles on a mesh of 3250^3 cells, of which ";
  expect_error(on(2, "--particles 1625 --backend cpu --quiet"), 4,
               {what + "2 ranks run on ", " are free: use a smaller grid"});
  if (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>)
    expect_error(on(2, "--particles 1625 --quiet"), 4, {what, " are free: use a smaller grid"});
  // What no memory would help is said first.
  expect_error(on(2, "--particles 1626 --quiet"), 2,
               {"--particles must be at most 1625 over several ranks, not 1626"});
#ifndef __SANITIZE_ADDRESS__  // which wants terabytes of addresses
  std::string const run =
      COIR_APP " --particles 128 --no-pictures --backend cpu --quiet --output short";
  // Libraries for GPUs can't be loaded into so few addresses.
  if (coir::runs_on_host<Kokkos::DefaultExecutionSpace>)
    expect_error(launch("1 " + run + " : -n 1 sh -c 'ulimit -v 350000; exec " + run + "'"), 4,
                 {"of memory, and ", " are free"});
#endif
  EXPECT_EQ(files(), std::set<std::string>{});
}

TEST_F(NbodyOnRanks, KeepTheEarlierCheckpointWhereOneCanNotWrite) {
  std::string const run = "--particles 12 --steps 4 --no-pictures --no-spectra --quiet ";
  run_on(2, run + "--stop-after 2 --output run");
  auto const before = checkpoint_files("run");
  std::string const on_ward = COIR_APP " --quiet --restart run --stop-after 3";
  expect_error(launch("1 " + on_ward + " : -n 1 sh -c 'ulimit -f 8; exec " + on_ward + "'"), 4,
               {"checkpoint.b.1.hdf5: can't be written", "raise the limit"});
  EXPECT_EQ(checkpoint_files("run"), before);
  run_on(2, "--quiet --restart run --snapshots");
  EXPECT_TRUE(fs::exists(folder / "run/snapshot_a1.000.1.hdf5"));
}

TEST_F(NbodyOnRanks, MustShareTheirFolder) {
  // Each in a folder of its own, as on machines that share nothing.
  fs::create_directory(folder / "one");
  fs::create_directory(folder / "other");
  std::string const steps = on_cores + "--particles 8 --steps 1 --no-pictures --output ";
  auto const command = [&](std::string const& where, std::string const& arguments) {
    return "sh -c 'cd " + where + "; exec " COIR_APP " " + arguments + "'";
  };
  auto const apart = [&](std::string const& arguments) {
    return launch("1 " + command("one", arguments) + " : -n 1 " + command("other", arguments));
  };
  std::string const here = folder.path().string();
  for (bool const there : {false, true}) {
    if (there) fs::create_directory(folder / "other/run");
    expect_error(apart(steps + "run"), 4,
                 {"rank 1 doesn't see in " + here + "/other/run on ",
                  " what the first rank writes to " + here + "/one/run on ",
                  ": name a folder that all ranks share"});
  }
  EXPECT_EQ(files(), (std::set<std::string>{"one", "other", "other/run"}));
  auto const shared = apart(steps + here + "/run");
  EXPECT_EQ(shared.code, 0) << shared.errors;
  EXPECT_EQ(files("run"), (std::set<std::string>{"config.toml", "power_a1.000.txt"}));
}

TEST_F(NbodyOnRanks, MixNoSnapshotsOfRunsOnOtherNumbersOfRanks) {
  std::string const run =
      on_cores + "--particles 8 --steps 2 --no-pictures --no-spectra --snapshots ";
  auto const snapshots = [&](std::string const& name) {
    std::set<std::string> found;
    for (auto const& file : files(name))
      if (file.starts_with("snapshot_a1.000")) found.insert(file);
    return found;
  };
  auto const of = [](int ranks) {
    std::set<std::string> names;
    for (int n = 0; n < ranks; ++n)
      names.insert("snapshot_a1.000" + (ranks > 1 ? "." + std::to_string(n) : "") + ".hdf5");
    return names;
  };
  // A new run refuses, before it writes anything, to be beside another one's; it replaces that of
  // as many ranks.
  for (auto const& [before, after, in_the_way] :
       {std::tuple{3, 2, ".2"}, std::tuple{1, 2, ""}, std::tuple{2, 1, ".0"}}) {
    std::string const name = std::to_string(before) + "to" + std::to_string(after);
    run_on(before, run + "--output " + name);
    auto const written = fs::last_write_time(folder / name / "config.toml");
    expect_error(on(after, run + "--output " + name), 4,
                 {name + "/snapshot_a1.000" + in_the_way +
                      ".hdf5 is of an earlier run's snapshot in another number of files",
                  "remove it, or name another --output"});
    EXPECT_EQ(snapshots(name), of(before));
    EXPECT_EQ(fs::last_write_time(folder / name / "config.toml"), written);
    run_on(before, run + "--seed 2 --output " + name);
  }
  // Snapshots of other times, and names that readers don't take for a part, are in nobody's way.
  for (std::string const name :
       {"snapshot_a0.500.hdf5", "snapshot_a1.000.x.hdf5", "snapshot_a1.000.7.hdf5.txt"})
    write("3to2/" + name, "mine");
  run_on(3, run + "--output 3to2");
  // A run that goes on writes the same snapshot again, in as many files as it has ranks.
  for (auto const& [before, after] : {std::pair{1, 3}, std::pair{3, 2}, std::pair{2, 1}}) {
    std::string const name = std::to_string(before) + "on" + std::to_string(after);
    run_on(before, run + "--checkpoint 1 --output " + name);
    EXPECT_EQ(snapshots(name), of(before));
    run_on(after, on_cores + "--restart " + name);
    EXPECT_EQ(snapshots(name), of(after));
  }
  // Elsewhere it is a new one.
  expect_error(on(2, on_cores + "--restart 1on3 --output 3to2"), 4,
               {"3to2/snapshot_a1.000.2.hdf5", "or name another --output"});
}

#ifndef __SANITIZE_ADDRESS__  // which must be loaded first
// One part of a snapshot can't be brought to the disk: none of them appears, and what was there
// before is still there.
TEST_F(NbodyOnRanks, WriteNoSnapshotWhereOnePartOfItFails) {
  if (coir::testing::is_sanitized)
    GTEST_SKIP() << "a sanitizer's library wants to be the first that is loaded";
  std::string const options =
      on_cores + "--particles 8 --steps 1 --no-pictures --no-spectra --snapshots --output run";
  std::array<std::string, 2> const parts{"run/snapshot_a1.000.0.hdf5",
                                         "run/snapshot_a1.000.1.hdf5"};
  for (bool const was_there : {false, true}) {
    if (was_there) run_on(2, options + " --seed 2");
    std::array<std::string, 2> before;
    for (std::size_t n = 0; was_there && n < 2; ++n) before[n] = read_text(folder / parts[n]);
    std::string const run = COIR_APP " " + options;
    expect_error(launch("1 " + run + " : -n 1 env LD_PRELOAD=" COIR_FAILING_CALLS +
                        " COIR_TEST_FILE=/run/.coir- " + run),
                 4, {"run/snapshot_a1.000.1.hdf5: can't be written (Input/output error)"});
    for (std::size_t n = 0; n < 2; ++n)
      if (was_there)
        EXPECT_TRUE(read_text(folder / parts[n]) == before[n]) << n;
      else
        EXPECT_FALSE(fs::exists(folder / parts[n])) << n;
    for (auto const& name : files("run")) EXPECT_FALSE(name.starts_with(".")) << name;
  }
}
#endif

TEST_F(NbodyOnRanks, RemovePartsThatBelongToNoCheckpoint) {
  std::string const run =
      on_cores + "--particles 8 --steps 2 --no-pictures --no-spectra --checkpoint 1 --output run";
  fs::create_directory(folder / "run");
  // Of runs that were ended: all letters, of more ranks, with gaps.
  for (char letter = 'a'; letter <= 'z'; ++letter)
    write(std::string("run/checkpoint.") + letter + ".0.hdf5", "left over");
  write("run/checkpoint.c.5.hdf5", "left over");
  write("run/checkpoint.a.11.hdf5", "left over");
  for (std::string const mine : {"checkpoint.a.x.hdf5", "checkpoint.7.hdf5", "other.a.0.hdf5"})
    write("run/" + mine, "mine");
  run_on(2, run);
  EXPECT_EQ(checkpoint_files("run").size(), 3u + 2);
  run_on(3, on_cores + "--restart run");
  // Beside a checkpoint its own parts stay until there is a new one, and on one rank none is needed
  // any more.
  write("run/checkpoint.d.7.hdf5", "left over");
  run_on(1, run);
  EXPECT_EQ(checkpoint_files("run"),
            (std::set<std::string>{"checkpoint.hdf5", "checkpoint.a.x.hdf5", "checkpoint.7.hdf5"}));
  EXPECT_TRUE(fs::exists(folder / "run/other.a.0.hdf5"));
}

TEST_F(NbodyOnRanks, OverwriteWhatAKilledRunLeft) {
  fs::create_directory(folder / "run");
  write("run/.coir-power_a1.000.txt.part", "half of it");
  run_on(2, coir::testing::small + "--quiet --no-pictures --output run");
  EXPECT_EQ(files("run"), (std::set<std::string>{"config.toml", "power_a1.000.txt"}));
}

TEST_F(NbodyOnRanks, EndTogetherWhenOneIsStopped) {
  // The second rank is stopped once the first checkpoint is there; then all must end, within
  // seconds.
  std::string const run = COIR_APP
      " --particles 32 --steps 2000 --checkpoint 5 --no-pictures --no-spectra --quiet --output run";
  auto const outcome =
      launch("1 " + run +
             " : -n 1 sh -c '(while [ ! -e run/checkpoint.hdf5 ]; do sleep 0.1; done; "
             "kill -TERM $$; sleep 10; kill -KILL $$) 2>/dev/null & exec " +
             run + "'");
  expect_error(outcome, 143, {"stopped", "--restart run/checkpoint.hdf5 goes on from step "});
  for (auto const& name : files("run"))
    EXPECT_TRUE(name == "config.toml" || name.starts_with("checkpoint.")) << name;
  // The checkpoint is whole: it is read before options are compared.
  expect_error(on(3, "--restart run --seed 99 --quiet"), 2,
               {"this run's physics isn't that of run/checkpoint.hdf5 (seed: 1 there, 99 here)"});
}

TEST_F(NbodyOnRanks, ReportWhatEachTook) {
  run_on(2, coir::testing::small + "--quiet --report report.json");
  auto const figures = report("report.json");
  EXPECT_EQ(figures["ranks"]["count"], 2);
  if (coir::runs_on_host<Kokkos::DefaultExecutionSpace>)
    EXPECT_EQ(figures["ranks"]["transport"], "mpi");
  EXPECT_GT(figures["ranks"]["bytes"], 0);
  EXPECT_GE(figures["ranks"]["headroom"], 0.05);
  for (auto const& [phase, seconds] : figures["ranks"]["mean_phases"].items())
    EXPECT_GE(figures["phases"][phase], seconds) << phase;
  EXPECT_GT(figures["phases"]["exchange"], 0);
}

TEST_F(NbodyOnRanks, ReportThePredictionOfTheOneThatNeedsMost) {
  // Of 8 planes the first rank has 2, and the others 3.
  auto const outcome =
      on(3, "--particles 8 --mesh-ratio 4 --steps 1 --pixels 16 --report report.json");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  std::string const line =
      "memory: " + coir::readable_bytes(report("report.json")["bytes_predicted"]) +
      " at most on the host of a rank, ";
  EXPECT_TRUE(contains(outcome.output, line)) << line << outcome.output;
}

#ifndef __SANITIZE_ADDRESS__  // which takes memory of its own
TEST_F(NbodyOnRanks, TakeTheMemoryThatIsPredictedButAFifth) {
  using Counts = std::vector<int>;
  for (auto const& [options, counts] :
       {std::pair<std::string, Counts>{"--mesh-ratio 1", {2, 6}},
        {"--mesh-ratio 2 --snapshots", {3}},
        {"--mesh-ratio 1 --no-pictures --no-spectra --checkpoint 1", {2, 6}}})
    for (int const ranks : counts) {
      run_on(ranks,
             "--particles 96 --box 192 --steps 2 --backend cpu --quiet --report report.json " +
                 options);
      auto const figures = report("report.json");
      double const predicted = figures["bytes_predicted"], peak = figures["bytes_peak"];
      std::printf("%-60s on %d: predicted %6.1f MiB, used %6.1f MiB: %.3f\n", options.c_str(),
                  ranks, predicted / (1 << 20), peak / (1 << 20), predicted / peak);
      EXPECT_GE(predicted, peak) << options << " on " << ranks;
      EXPECT_LE(predicted, 1.2 * peak) << options << " on " << ranks;
    }
}
#endif

TEST_F(NbodyOnRanks, TheFirstOneSpeaks) {
  auto const help = on(3, "--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.output, run("--help").output);
  auto const outcome = on(3, coir::testing::small + "--headroom 0.25");
  EXPECT_EQ(outcome.code, 0);
  for (std::string const part :
       {"computed on 3 ranks, the first one on ", ", which exchange by mpi\n",
        "25 % more particles than an even share fit\n", "migration ", "\nexchanges took "})
    EXPECT_EQ(outcome.output.find(part), outcome.output.rfind(part)) << part;
  EXPECT_TRUE(contains(outcome.output, "migration ")) << outcome.output;
}

TEST_F(NbodyOnRanks, HeadroomHasLimits) {
  expect_failure(2, "--headroom -1", {"--headroom must be from 0 to 10", "-1"});
}

}  // namespace
