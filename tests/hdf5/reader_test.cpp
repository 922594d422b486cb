#include <coir/core/errors.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>
#include <support/in_folder.hpp>

#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <hdf5.h>
#include <unistd.h>

namespace fs = std::filesystem;
using coir::InputError;
using namespace coir::hdf5;
using namespace coir::testing;

namespace {

// A file of int16 numbers 0, 1, ... of shape (4, 3), and an attribute of each kind.
void write_example(fs::path const& path) {
  std::vector<std::int16_t> numbers(12);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int16_t>(i);
  Writer writer(path);
  writer.write("group/numbers", numbers, {4, 3});
  writer.write("reals", std::vector<double>{0.1, 1e300});
  writer.write_attribute("group", "single", 7);
  writer.write_attribute_array("group", "several", std::vector<double>{1, 2, 3});
  writer.write_attribute_text("group", "text", "words");
  writer.commit();
}

template <class Action>
std::string refusal(Action const& action) {
  TemporaryFolder const folder;
  write_example(folder / "a.hdf5");
  Reader const reader(folder / "a.hdf5");
  ::testing::internal::CaptureStderr();
  std::string const text = message_of<InputError>([&] { action(reader); });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(text.starts_with((folder / "a.hdf5").string() + ": ")) << text;
  return text;
}

std::string refusal_to_open(fs::path const& path) {
  ::testing::internal::CaptureStderr();
  std::string const text = message_of<InputError>([&] { Reader{path}; });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  return text;
}

// What other programs write, made by HDF5 itself.
class ForeignFile {
 public:
  explicit ForeignFile(fs::path const& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ForeignFile(ForeignFile const&) = delete;
  ForeignFile& operator=(ForeignFile const&) = delete;
  ~ForeignFile() { H5Fclose(file_); }

  hid_t id() const { return file_; }

  // The space is closed.
  void dataset(char const* name, hid_t stored, hid_t space, hid_t memory, void const* values) {
    hid_t const set = H5Dcreate2(file_, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (values != nullptr) H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
  }

  void fixed_text(char const* name, std::string const& text, H5T_str_t padding) {
    hid_t const type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, text.size());
    H5Tset_strpad(type, padding);
    hid_t const attribute = H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, text.data());
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }

  void variable_text(char const* name, char const* text) {
    hid_t const type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    hid_t const attribute = H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, &text);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }

 private:
  hid_t file_;
};

}  // namespace

using Reading = InFolder;

TEST_F(Reading, SaysWhatThereIs) {
  write_example(folder / "a.hdf5");
  Reader const reader(folder / "a.hdf5");
  EXPECT_TRUE(reader.has("/"));
  EXPECT_TRUE(reader.has("group"));
  EXPECT_TRUE(reader.has("/group/numbers"));
  EXPECT_FALSE(reader.has("group/other"));
  EXPECT_FALSE(reader.has("other/numbers"));
  EXPECT_FALSE(reader.has("reals/numbers"));
  EXPECT_TRUE(reader.has_attribute("group", "single"));
  EXPECT_FALSE(reader.has_attribute("group", "other"));
  EXPECT_FALSE(reader.has_attribute("other", "single"));
  EXPECT_EQ(name_of(reader.type("group/numbers")), "int16");
  EXPECT_EQ(reader.attribute_text("group", "text"), "words");
}

TEST_F(Reading, ConvertsToTypesThatHoldTheValues) {
  write_example(folder / "a.hdf5");
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.read<std::int64_t>("group/numbers")[11], 11);
  EXPECT_EQ(reader.read<float>("group/numbers")[11], 11);
  EXPECT_EQ(reader.read<float>("reals")[0], 0.1F);
  EXPECT_EQ(reader.attribute<double>("group", "single"), 7);
  EXPECT_EQ(reader.attribute<std::int64_t>("group", "single"), 7);
}

TEST_F(Reading, RowsOutsideAreTheCallersMistake) {
  write_example(folder / "a.hdf5");
  Reader const reader(folder / "a.hdf5");
  std::vector<short> room(6);
  std::span<short> const two(room);
  expect_parts(message_of([&] { reader.read_rows("group/numbers", 3, two); }),
               {"rows must be among its 4, not 3 to 5"});
  message_of([&] { reader.read_rows("group/numbers", -1, two); });
  expect_parts(message_of([&] { reader.read_rows("group/numbers", 0, two.first(4)); }),
               {"rows must be whole, 3 elements each, not 4"});
}

TEST_F(Reading, ReadsEitherByteOrder) {
  double const pi = 3.14159;
  unsigned const number = 0x01020304;
  {
    ForeignFile file(folder / "a.hdf5");
    file.dataset("f", H5T_IEEE_F64BE, H5Screate(H5S_SCALAR), H5T_NATIVE_DOUBLE, &pi);
    file.dataset("u", H5T_STD_U32BE, H5Screate(H5S_SCALAR), H5T_NATIVE_UINT, &number);
  }
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.shape("f"), Shape());
  EXPECT_EQ(reader.read<double>("f"), std::vector{pi});
  EXPECT_EQ(reader.type("u"), Type::uint32);
  EXPECT_EQ(reader.read<unsigned>("u"), std::vector{number});
}

TEST_F(Reading, ReadsTextOfFixedLength) {
  {
    ForeignFile file(folder / "a.hdf5");
    file.fixed_text("full", "words", H5T_STR_NULLPAD);
    file.fixed_text("ended", std::string("wor\0\0", 5), H5T_STR_NULLTERM);
  }
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.attribute_text("/", "full"), "words");
  EXPECT_EQ(reader.attribute_text("/", "ended"), "wor");
}

// As GADGET-4 writes IDs of 48 bits.
TEST_F(Reading, IntegersOfOtherWidthsAreReadAsTheNextWiderOnes) {
  std::uint64_t const id = (std::uint64_t(1) << 47) + 5;
  std::int64_t const negative = -7;
  {
    ForeignFile file(folder / "a.hdf5");
    for (std::size_t const bytes : {3U, 5U, 6U, 7U}) {
      hid_t const type = H5Tcopy(H5T_STD_I64LE);
      H5Tset_precision(type, 8 * bytes);
      H5Tset_size(type, bytes);
      file.dataset(("i" + std::to_string(bytes)).c_str(), type, H5Screate(H5S_SCALAR),
                   H5T_NATIVE_INT64, &negative);
      H5Tclose(type);
    }
    hid_t const type = H5Tcopy(H5T_STD_U64LE);
    H5Tset_precision(type, 48);
    file.dataset("long", type, H5Screate(H5S_SCALAR), H5T_NATIVE_UINT64, &id);
    H5Tset_size(type, 6);
    file.dataset("packed", type, H5Screate(H5S_SCALAR), H5T_NATIVE_UINT64, &id);
    H5Tclose(type);
  }
  Reader const reader(folder / "a.hdf5");
  for (char const* const name : {"long", "packed"}) {
    EXPECT_EQ(reader.type(name), Type::uint64) << name;
    EXPECT_EQ(reader.read<std::uint64_t>(name), std::vector{id}) << name;
  }
  EXPECT_EQ(reader.type("i3"), Type::int32);
  for (char const* const name : {"i3", "i5", "i6", "i7"})
    EXPECT_EQ(reader.read<std::int64_t>(name), std::vector{negative}) << name;
}

TEST_F(Reading, OtherKindsOfDatasetsAreErrors) {
  {
    ForeignFile file(folder / "a.hdf5");
    hid_t const pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "a", 0, H5T_NATIVE_INT);
    file.dataset("pair", pair, H5Screate(H5S_SCALAR), pair, nullptr);
    H5Tclose(pair);
    file.dataset("wide", H5T_NATIVE_LDOUBLE, H5Screate(H5S_SCALAR), H5T_NATIVE_LDOUBLE, nullptr);
    file.dataset("null", H5T_NATIVE_INT, H5Screate(H5S_NULL), H5T_NATIVE_INT, nullptr);
    file.dataset("one", H5T_NATIVE_INT, H5Screate(H5S_SCALAR), H5T_NATIVE_INT, nullptr);
    H5Lcreate_soft("/nowhere", file.id(), "link", H5P_DEFAULT, H5P_DEFAULT);
  }
  Reader const reader(folder / "a.hdf5");
  for (char const* const name : {"pair", "wide"})
    expect_parts(message_of<InputError>([&] { (void)reader.read<int>(name); }),
                 {name, "holds no numbers of 8 to 64 bits", "h5ls"});
  expect_parts(message_of<InputError>([&] { (void)reader.shape("null"); }), {"holds nothing"});
  std::vector<int> room(1);
  expect_parts(message_of<InputError>([&] { reader.read_rows("one", 0, std::span<int>(room)); }),
               {"'one' is a single number and has no rows"});
  EXPECT_FALSE(reader.has("link"));
  expect_parts(message_of<InputError>([&] { (void)reader.shape("link"); }), {"is not in it"});
}

TEST_F(Reading, MissingObjectsAreErrors) {
  expect_parts(refusal([](Reader const& r) { (void)r.read<int>("group/other"); }),
               {"'group/other' is not in it", "h5ls -r"});
  expect_parts(refusal([](Reader const& r) { (void)r.read<int>("group"); }),
               {"'group' is no dataset"});
  expect_parts(refusal([](Reader const& r) { (void)r.type("no/such/path"); }), {"is not in it"});
  expect_parts(refusal([](Reader const& r) { (void)r.attribute<int>("group", "other"); }),
               {"attribute 'other' of 'group' is not there", "h5dump -A"});
  expect_parts(refusal([](Reader const& r) { (void)r.attribute<int>("other", "single"); }),
               {"'other' is not in it"});
}

TEST_F(Reading, WrongTypesAreErrors) {
  expect_parts(refusal([](Reader const& r) { (void)r.read<signed char>("group/numbers"); }),
               {"'group/numbers' is int16, whose values int8 can't hold", "read it as int16"});
  refusal([](Reader const& r) { (void)r.read<std::uint64_t>("group/numbers"); });
  refusal([](Reader const& r) { (void)r.read<std::int64_t>("reals"); });
  expect_parts(refusal([](Reader const& r) { (void)r.attribute<float>("group", "single"); }),
               {"attribute 'single' of 'group' is int32, whose values float32 can't hold"});
  expect_parts(refusal([](Reader const& r) { (void)r.attribute<int>("group", "text"); }),
               {"'text'", "holds no numbers"});
  expect_parts(refusal([](Reader const& r) { (void)r.attribute_text("group", "single"); }),
               {"'single'", "is no text"});
}

TEST_F(Reading, WrongShapesAreErrors) {
  expect_parts(refusal([](Reader const& r) { r.expects_shape("group/numbers", {-1, 2}); }),
               {"'group/numbers' has shape (4, 3), and (any, 2) was expected"});
  refusal([](Reader const& r) { r.expects_shape("group/numbers", {12}); });
  expect_parts(refusal([](Reader const& r) {
                 std::vector<short> room(11);
                 r.read("group/numbers", std::span<short>(room));
               }),
               {"has shape (4, 3), and 11 elements were expected"});
  expect_parts(refusal([](Reader const& r) { (void)r.attribute<double>("group", "several"); }),
               {"has shape (3,), and a single number was expected"});

  write_example(folder / "a.hdf5");
  Reader(folder / "a.hdf5").expects_shape("group/numbers", {-1, 3});
}

TEST_F(Reading, TextMayBeAskedForWithALimit) {
  {
    ForeignFile file(folder / "a.hdf5");
    file.fixed_text("fixed", "words", H5T_STR_NULLPAD);
    file.variable_text("variable", "words");
  }
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.attribute_text("/", "variable"), "words");
  EXPECT_EQ(reader.attribute_text("/", "fixed", 5), "words");
  for (char const* name : {"fixed", "variable"})
    expect_parts(message_of<InputError>([&] { (void)reader.attribute_text("/", name, 4); }),
                 {name, "must be a text of fixed length, of 4 bytes at most"});
}

TEST_F(Reading, DatasetsInPiecesOrFilteredAreTold) {
  write_example(folder / "a.hdf5");
  Reader(folder / "a.hdf5").expects_contiguous("group/numbers");
  {
    ForeignFile const file(folder / "b.hdf5");
    hsize_t const extent = 100, piece = 10;
    hid_t const space = H5Screate_simple(1, &extent, nullptr);
    hid_t const properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &piece);
    H5Dclose(
        H5Dcreate2(file.id(), "x", H5T_NATIVE_INT, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
  }
  expect_parts(message_of<InputError>([&] { Reader(folder / "b.hdf5").expects_contiguous("x"); }),
               {"b.hdf5: 'x' must lie in the file in one piece", "h5repack"});
}

TEST_F(Reading, DatasetsBehindLinksAreTold) {
  write_example(folder / "a.hdf5");
  {
    ForeignFile const file(folder / "b.hdf5");
    H5Lcreate_external("a.hdf5", "/reals", file.id(), "other", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("a.hdf5", "/group", file.id(), "group", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/group/numbers", file.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
  }
  Reader const reader(folder / "b.hdf5");
  EXPECT_EQ(reader.read<double>("other").size(), 2U);
  for (char const* name : {"other", "group/numbers", "soft"})
    expect_parts(message_of<InputError>([&] { reader.expects_contiguous(name); }),
                 {"b.hdf5: '", name, "' is a link and must lie in the file itself"});
}

TEST_F(Reading, MoreThanMemoryHoldsIsAResourceError) {
  {
    ForeignFile file(folder / "a.hdf5");
    hsize_t const extents[2] = {hsize_t(1) << 32, hsize_t(1) << 28};  // nothing of it is stored
    file.dataset("x", H5T_NATIVE_INT8, H5Screate_simple(2, extents, nullptr), H5T_NATIVE_INT8,
                 nullptr);
  }
  Reader const reader(folder / "a.hdf5");
  expect_parts(message_of<coir::ResourceError>([&] { (void)reader.read<double>("x"); }),
               {"reading", "a.hdf5: 'x'"});
}

TEST_F(Reading, AFileThatIsMissingOrAFolderIsAnError) {
  expect_parts(refusal_to_open(folder / "a.hdf5"), {"a.hdf5: no such file"});
  expect_parts(refusal_to_open(folder.path()), {"is a folder"});
  expect_parts(refusal_to_open("/dev/zero"), {"is a device or a pipe"});
}

TEST_F(Reading, AFileThatIsNotHdf5IsAnError) {
  put(folder / "a.hdf5", "PK and so on");
  expect_parts(refusal_to_open(folder / "a.hdf5"), {"a.hdf5: is no HDF5 file", "check the path"});
  put(folder / "a.hdf5", "");
  expect_parts(refusal_to_open(folder / "a.hdf5"), {"is empty"});
}

TEST_F(Reading, ATruncatedFileIsAnErrorWhereverItEnds) {
  write_example(folder / "a.hdf5");
  std::string const whole = read_text(folder / "a.hdf5");
  for (std::size_t const length :
       {std::size_t(8), std::size_t(40), std::size_t(200), whole.size() / 2, whole.size() - 1}) {
    put(folder / "a.hdf5", whole.substr(0, length));
    expect_parts(refusal_to_open(folder / "a.hdf5"), {"a.hdf5: is", "again"});
  }
}

TEST_F(Reading, TheProgramsOwnErrorHandlerStays) {
  write_example(folder / "a.hdf5");
  H5E_auto2_t const mine = [](hid_t, void*) { return herr_t(0); };
  H5E_auto2_t before = nullptr, after = nullptr;
  void *data = nullptr, *data_after = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  H5Eset_auto2(H5E_DEFAULT, mine, nullptr);
  message_of<InputError>([&] { (void)Reader(folder / "a.hdf5").shape("other"); });
  H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
  H5Eset_auto2(H5E_DEFAULT, before, data);
  EXPECT_EQ(after, mine);
}
