#include "checkpoint.hpp"

namespace coir::apps::shallow {

namespace {

constexpr char kind[] = "coir-shallow checkpoint 1";

}  // namespace

void write_checkpoint_head(hdf5::Writer& file, Checkpoint const& begin, std::int64_t steps) {
  file.write_attribute_text("/", "kind", kind);
  auto const& p = begin.parameters;
  visit_numbers(begin, [&](char const* name, double value) {
    file.write_attribute<double>("/", name, value);
  });
  file.write_attribute_array<std::int64_t>("/", "integers",
                                           {steps, p.rows, p.columns, p.periodic_x, p.periodic_y,
                                            p.compatible, begin.precision == Precision::float64});
  if (!begin.bottom.empty()) file.write("bottom", begin.bottom, {p.rows, p.columns});
}

Checkpoint read_checkpoint(std::filesystem::path const& path) {
  if (!io::has_checksum(path))
    throw InputError(path.string() +
                     " is no checkpoint of coir-shallow (it has no checksum at its end): give one "
                     "that a run with --checkpoint wrote");
  io::verify_checksum(path);
  hdf5::Reader const file(path);
  if (!file.has_attribute("/", "kind") || file.attribute_text("/", "kind", 100) != kind)
    throw InputError(path.string() +
                     " is no checkpoint of coir-shallow: give one that a run with "
                     "--checkpoint wrote");
  Checkpoint checkpoint;
  visit_numbers(checkpoint, [&](char const* name, double& value) {
    value = file.attribute<double>("/", name);
  });
  auto const integers = file.attribute_array<std::int64_t>("/", "integers");
  auto const damaged = [&](std::string const& why) {
    return InputError(path.string() + " makes no sense (" + why +
                      "): it is damaged; take another checkpoint");
  };
  if (integers.size() != 7) throw damaged("it has no list of 7 whole numbers");
  auto& p = checkpoint.parameters;
  checkpoint.steps = integers[0];
  p.rows = static_cast<int>(integers[1]);
  p.columns = static_cast<int>(integers[2]);
  p.periodic_x = integers[3] != 0;
  p.periodic_y = integers[4] != 0;
  p.compatible = integers[5] != 0;
  checkpoint.precision = integers[6] != 0 ? Precision::float64 : Precision::float32;
  if (checkpoint.steps < 1) throw damaged("its steps are " + std::to_string(checkpoint.steps));
  try {
    coir::shallow::expects_good(p);
  } catch (PreconditionError const& error) {
    throw damaged(error.what());
  }
  if (file.has("bottom")) {
    file.expects_shape("bottom", {p.rows, p.columns});
    checkpoint.bottom = file.read<double>("bottom");
  }
  return checkpoint;
}

}  // namespace coir::apps::shallow
