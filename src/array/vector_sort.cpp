#ifdef COIR_HAS_HIGHWAY
#include "vector_sort.hpp"

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>

#include <atomic>

namespace coir::detail {

namespace {

/// Whether AVX2 sorts longer rows of 32-bit words faster than AVX-512: on AMD's processors, which
/// take long to store the words of a vector that a mask selects. Words of 64 bits are selected by
/// a table.
bool prefers_avx2() {
#if HWY_ARCH_X86
  return __builtin_cpu_is("amd") && (hwy::SupportedTargets() & (HWY_AVX2 - 1)) != 0;
#else
  return false;
#endif
}

/// Tells Highway which instruction sets to choose from. All threads share that choice; another one
/// in between costs time and changes no result.
void choose_targets(bool up_to_avx2) {
  static std::atomic<bool> is_up_to_avx2{false};
  if (is_up_to_avx2.load(std::memory_order_relaxed) == up_to_avx2) return;
#if HWY_ARCH_X86
  std::int64_t const targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(up_to_avx2 ? targets & ~std::int64_t(HWY_AVX2 - 1) : targets);
#endif
  is_up_to_avx2.store(up_to_avx2, std::memory_order_relaxed);
}

template <class Word>
void sort_by(bool up_to_avx2, Word* words, std::size_t count) {
  choose_targets(up_to_avx2);
  hwy::Sorter{}(words, count, hwy::SortAscending{});
}

}  // namespace

void sort_by_vectors(std::uint32_t* words, std::size_t count) {
  static bool const prefers = prefers_avx2();
  constexpr std::size_t network = 256;  // no words are selected in networks
  sort_by(prefers && count > network, words, count);
}

void sort_by_vectors(std::uint64_t* words, std::size_t count) { sort_by(false, words, count); }

}  // namespace coir::detail
#endif
