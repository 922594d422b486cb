#pragma once

/// Files to go on from: the model, its fields, and the derivatives of the step before, in HDF5 with
/// a checksum. The first rank writes them; each rank of any number reads its rows.

#include "outputs.hpp"
#include "settings.hpp"

#include <coir/core/errors.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>
#include <coir/io/checksum.hpp>
#include <coir/shallow/model.hpp>

#include <support/on_all.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::shallow {

inline constexpr std::array<char const*, 6> checkpoint_fields = {"h", "u", "v", "dh", "du", "dv"};

/// What a run goes on from, without the fields.
struct Checkpoint {
  Parameters parameters;
  double depth = 0;  ///< at rest
  Precision precision = Precision::float32;
  std::int64_t steps = 0;
  std::vector<double> bottom{};  ///< on all rows; empty: flat
};

/// Calls visit(name, value) for each number of a checkpoint.
template <class C, class Visit>
void visit_numbers(C& checkpoint, Visit const& visit) {
  auto& p = checkpoint.parameters;
  visit("dx", p.dx), visit("dy", p.dy), visit("dt", p.dt), visit("gravity", p.gravity);
  visit("f0", p.f0), visit("beta", p.beta), visit("viscosity", p.viscosity);
  visit("drag", p.drag), visit("epsilon", p.epsilon), visit("depth", checkpoint.depth);
}

/// \throws InputError if it is no checkpoint of coir-shallow, damaged, or makes no sense
Checkpoint read_checkpoint(std::filesystem::path const& path);

/// All but the fields of a run that began as `begin` says, after so many steps.
void write_checkpoint_head(hdf5::Writer& file, Checkpoint const& begin, std::int64_t steps);

/// The fields that a checkpoint holds, in the order of checkpoint_fields.
template <class Exec, class T>
auto fields_of(coir::shallow::Model<Exec, T> const& model) {
  auto const [dh, du, dv] = model.slopes();
  return std::array{model.h(), model.u(), model.v(), dh, du, dv};
}

/// Collective.
template <class Exec, class T>
void write_checkpoint(coir::shallow::Model<Exec, T> const& model, Checkpoint const& begin,
                      std::filesystem::path const& path) {
  auto const& group = model.group();
  std::optional<hdf5::Writer> file;
  on_first(group, [&] {
    file.emplace(path, hdf5::WriterOptions{.checked = true});
    write_checkpoint_head(*file, begin, model.steps());
  });
  auto const fields = fields_of(model);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    auto const all = gathered(model, fields[n]);
    on_first(group, [&] { file->write(checkpoint_fields[n], all); });
  }
  on_first(group, [&] { file->commit(); });
}

/// Reads this rank's rows into a model, which then goes on. Collective.
///
/// \throws InputError if a field is missing, has another shape or type, or isn't finite
template <class Exec, class T>
void read_fields(coir::shallow::Model<Exec, T>& model, Checkpoint const& checkpoint,
                 std::filesystem::path const& path) {
  on_all(model.group(), [&] {
    hdf5::Reader const file(path);
    auto const rows = model.rows();
    auto const columns = static_cast<std::int64_t>(model.parameters().columns);
    auto const fields = fields_of(model);
    for (std::size_t n = 0; n < fields.size(); ++n) {
      file.expects_shape(checkpoint_fields[n], {model.parameters().rows, columns});
      HostField<T> const here("here", static_cast<std::size_t>(rows.count),
                              static_cast<std::size_t>(columns));
      file.read_rows(checkpoint_fields[n], rows.first, std::span<T>(here.data(), here.size()));
      for (std::size_t cell = 0; cell < here.size(); ++cell)
        if (!std::isfinite(here.data()[cell]) || (n == 0 && !(here.data()[cell] > 0)))
          throw InputError(path.string() + ": its " + checkpoint_fields[n] + " holds " +
                           in_words(here.data()[cell]) +
                           ", which no run had: the file is damaged; take another");
      typename coir::shallow::Model<Exec, T>::Field const field("field", here.extent(0),
                                                                here.extent(1));
      copy_contiguous(field, here);
      copy_strided<Exec, T, 2>(Exec(), strided(field), strided(fields[n]));
      Exec().fence();
    }
  });
  model.go_on_from(checkpoint.steps);
}

}  // namespace coir::apps::shallow
