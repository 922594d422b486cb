#pragma once

#include <string>
#include <vector>

namespace coir::apps::compare {

/// How the size of a row is read from the numbers at the end of its name, "jacobi,kernel/400/266".
enum class SizeFrom {
  first,    ///< the first number
  square,   ///< its square
  cube,     ///< its cube
  product,  ///< the product of all numbers
};

/// One kind of work, over several sizes.
struct ComparedWork {
  std::string name;     ///< the same in every report, so that rows of several machines join
  std::string title;    ///< for people
  std::string group;    ///< heading that it stands under
  std::string program;  ///< of bench/: "array/table" is bench/array/array_table_bench
  std::string row;      ///< its rows' name up to the sizes; if builds have different ones, with a |
                        ///< between them
  SizeFrom size_from = SizeFrom::first;
  std::string unit;  ///< what sizes count; the counter "<unit>/s", if there is one, is of the same
  /// The rate that it is measured against, of a machine that moves bytes in the work's way: "copy"
  /// reads one array and writes another, "update" reads and writes one in place, "read" only reads,
  /// "triad" reads two arrays or more and writes one; "to_device" and "to_host" are those of
  /// transfers. "none": arithmetic or latency is the limit, which isn't measured.
  std::string limit;
  std::string calls;  ///< counter by which the seconds of a row are divided; may be empty
  std::vector<std::string> quick;  ///< sizes as they stand in rows' names: "400/266"
  std::vector<std::string> more;   ///< those of the full set alone
  bool stays_in_cache =
      false;  ///< a pass over memory does several calls: their bytes stay in a cache
};

enum class SetName { quick, full };
char const* set_name(SetName set);

/// The works of a set that have sizes in it; `quick` and `more` of the full set are joined in
/// `quick`.
///
/// \param only  names, or what several begin with, up to a comma: "jacobi"; empty for all
/// \throws PreconditionError naming all works if one is the name of none
std::vector<ComparedWork> works_of(SetName set, std::vector<std::string> const& only = {});

/// Rounds that are run unless others are asked for.
int rounds_of(SetName set);

/// The names that a row of a work may have: "jacobi,kernel/400/266".
std::vector<std::string> row_names(ComparedWork const& work, std::string const& numbers);

/// The size that a row's numbers stand for: "400/266" is 106400 by SizeFrom::product.
double size_of(SizeFrom from, std::string const& numbers);

}  // namespace coir::apps::compare
