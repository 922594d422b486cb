#include <coir/poisson/detail/slab_pipeline.hpp>

#include <support/spaces.hpp>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using coir::poisson::detail::pipeline;
using coir::poisson::detail::pipeline_bands;
using coir::poisson::detail::PipelineStep;
using coir::testing::Host;

namespace {

/// Calls of stages that came too early or too late for a slab or its neighbours.
int misplaced_calls(int slabs, int stages, int bands) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(slabs) + 2);
  done.front() = done.back() = stages + 1;  // the ring, which is read at any time
  std::vector<int> owner_of(static_cast<std::size_t>(slabs) + 2,
                            -1);  // the band of a slab's first stage
  pipeline("coir::test::pipeline", Host{}, slabs, 1, bands, [&](PipelineStep const& step) {
    owner_of[static_cast<std::size_t>(step.slab)] = step.band;
  });
  std::atomic<int> misplaced = 0;
  pipeline("coir::test::pipeline", Host{}, slabs, stages, bands, [&](PipelineStep const& step) {
    auto const [band, s, slab, watched] = step;
    auto const at = [&](int i) { return done[static_cast<std::size_t>(i)].load(); };
    for (int i : {slab - 1, slab + 1}) {
      if (i < 1 || i > slabs) continue;
      // Another band may be at work on a neighbour while the slab is watched, and only then.
      if (at(i) != s && at(i) != s + 1) ++misplaced;
      int const owner = owner_of[static_cast<std::size_t>(i)];
      if (s == 0 && owner != band && !watched) ++misplaced;
    }
    if (s > 0 && watched) ++misplaced;
    if (at(slab) != s) ++misplaced;
    ++done[static_cast<std::size_t>(slab)];
  });
  for (int i = 1; i <= slabs; ++i)
    if (done[static_cast<std::size_t>(i)] != stages) ++misplaced;
  return misplaced;
}

}  // namespace

TEST(SlabPipeline, RunsStagesInTheirOrder) {
  for (int stages : {1, 2, 3, 8})
    for (int slabs : {1, 2, 7, 60})
      for (int bands = 1; bands == 1 || (bands <= 9 && bands <= slabs / (2 * stages)); ++bands)
        EXPECT_EQ(misplaced_calls(slabs, stages, bands), 0)
            << slabs << " slabs, " << stages << " stages, " << bands << " bands";
}

// CTest runs these for several numbers of threads.
TEST(SlabPipeline, HasABandForEachThread) {
  Host const exec;
  EXPECT_EQ(pipeline_bands(exec, 1000, 1'000'000, 2), exec.concurrency());
  EXPECT_EQ(pipeline_bands(exec, 1000, 2000, 2), 1);    // too few cells
  EXPECT_EQ(pipeline_bands(exec, 5, 1'000'000, 2), 1);  // too few slabs
}

TEST(SlabPipeline, RunsEachBandOnAThreadOfItsOwn) {
  Host const exec;
  int const threads = static_cast<int>(exec.concurrency());
  for (int bands = 1; bands <= threads; ++bands) {
    std::mutex mutex;
    std::vector<std::set<std::thread::id>> of_band(static_cast<std::size_t>(bands));
    std::set<std::thread::id> all;
    // Stage 0 has no seams, where threads work on other bands, too.
    pipeline("coir::test::pipeline", exec, 1000, 3, bands, [&](PipelineStep const& step) {
      std::lock_guard const lock(mutex);
      if (step.stage == 0)
        of_band[static_cast<std::size_t>(step.band)].insert(std::this_thread::get_id());
      all.insert(std::this_thread::get_id());
    });
    for (auto const& ids : of_band) EXPECT_EQ(ids.size(), 1u);
    EXPECT_EQ(static_cast<int>(all.size()), bands);
  }
}
