#include <coir/core/errors.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>
#include <coir/io/checksum.hpp>

#include <gtest/gtest.h>
#include <io/file_size_limit.hpp>
#include <io/scratch.hpp>
#include <support/in_folder.hpp>

#include <csignal>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using coir::PreconditionError;
using coir::ResourceError;
using namespace coir::hdf5;
using namespace coir::testing;

namespace {

// This program meets limits on sizes, and ends as applications do.
[[maybe_unused]] bool const has_no_cleanup = (skip_cleanup_at_exit(), true);

// The extremes of the type, and numbers between them.
template <class T>
std::vector<T> some_values(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(3 * i + 1);
  if (count > 1) {
    values.front() = std::numeric_limits<T>::lowest();
    values.back() = std::numeric_limits<T>::max();
  }
  return values;
}

// A writer with something in it.
Writer begin(fs::path const& path) {
  Writer writer(path);
  writer.write("group/numbers", std::vector<int>{1, 2, 3});
  return writer;
}

template <class Action>
std::string refusal(Action const& action) {
  TemporaryFolder const folder;
  Writer writer = begin(folder / "a.hdf5");
  std::string const text = message_of([&] { action(writer); });
  // A caller's mistake does no harm to the file.
  writer.commit();
  EXPECT_EQ(Reader(folder / "a.hdf5").read<int>("group/numbers"), (std::vector{1, 2, 3}));
  return text;
}

template <class T>
class WriterOf : public ::testing::Test {};
using Types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                               std::uint16_t, std::uint32_t, std::uint64_t, float, double>;

}  // namespace

TYPED_TEST_SUITE(WriterOf, Types);

TYPED_TEST(WriterOf, DatasetsOfEveryRankComeBackWithTheSameBits) {
  TemporaryFolder const folder;
  std::vector<Shape> const shapes = {{1},          {7}, {3, 5}, {2, 3, 7},
                                     {3, 1, 5, 2}, {0}, {0, 3}, {4, 0}};
  Writer writer(folder / "a.hdf5");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::int64_t const count =
        std::accumulate(shapes[i].begin(), shapes[i].end(), std::int64_t(1), std::multiplies<>());
    writer.write("x" + std::to_string(i), some_values<TypeParam>(std::size_t(count)), shapes[i]);
  }
  writer.commit();
  EXPECT_EQ(folder.entries(), 1);

  Reader const reader(folder / "a.hdf5");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::string const name = "x" + std::to_string(i);
    EXPECT_EQ(reader.shape(name), shapes[i]);
    EXPECT_EQ(reader.type(name), type_of<TypeParam>);
    auto const values = reader.read<TypeParam>(name);
    EXPECT_EQ(values, some_values<TypeParam>(values.size()));
  }
}

TYPED_TEST(WriterOf, BlocksOfRowsGiveTheSameAsTheWhole) {
  TemporaryFolder const folder;
  auto const values = some_values<TypeParam>(7 * 6);
  std::span<TypeParam const> const all(values);
  Writer writer(folder / "a.hdf5");
  writer.make_dataset("deep/er/x", type_of<TypeParam>, {7, 2, 3});
  writer.append("deep/er/x", all.subspan(0, 2 * 6));
  writer.append("deep/er/x", all.subspan(0, 0));
  writer.append("deep/er/x", all.subspan(2 * 6, 4 * 6));
  writer.append("/deep/er/x", all.subspan(6 * 6));
  writer.commit();

  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.read<TypeParam>("deep/er/x"), values);
  std::vector<TypeParam> part(2 * 6);
  reader.read_rows("deep/er/x", 4, std::span<TypeParam>(part));
  EXPECT_EQ(part, std::vector<TypeParam>(values.begin() + 4 * 6, values.begin() + 6 * 6));
}

TYPED_TEST(WriterOf, AttributesComeBackWithTheSameBits) {
  TemporaryFolder const folder;
  TypeParam const largest = std::numeric_limits<TypeParam>::max();
  Writer writer = begin(folder / "a.hdf5");
  writer.write_attribute("/", "one", largest);
  writer.write_attribute_array("group", "several", some_values<TypeParam>(6));
  writer.write_attribute_array("group/numbers", "just one", std::vector<TypeParam>{largest});
  writer.commit();

  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.attribute<TypeParam>("/", "one"), largest);
  EXPECT_EQ(reader.attribute_type("/", "one"), type_of<TypeParam>);
  EXPECT_EQ(reader.attribute_shape("/", "one"), Shape());
  EXPECT_EQ(reader.attribute_array<TypeParam>("group", "several"), some_values<TypeParam>(6));
  EXPECT_EQ(reader.attribute_shape("group", "several"), Shape{6});
  EXPECT_EQ(reader.attribute<TypeParam>("group/numbers", "just one"), largest);
}

TEST(Constants, AreReadEverywhereAndTakeNoSpace) {
  TemporaryFolder const folder;
  auto const size_with = [&](std::int64_t count) {
    {
      Writer writer(folder / "a.hdf5");
      writer.write_constant("group/ones", 1.5f, {count, 2});
      writer.commit();
    }
    return fs::file_size(folder / "a.hdf5");
  };
  auto const size = size_with(3);
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.type("group/ones"), Type::float32);
  EXPECT_EQ(reader.read<float>("group/ones"), std::vector<float>(6, 1.5f));
  EXPECT_EQ(size_with(1'000'000'000), size);
  EXPECT_EQ(size_with(0), size);
}

TEST(Constants, TakeNoRows) {
  EXPECT_NE(refusal([](Writer& writer) {
              writer.write_constant("c", 1.0, {3});
              writer.append("c", std::span<double const>(std::vector{1.0}));
            }).find("must be no more than are missing, 0"),
            std::string::npos);
}

using Writing = InFolder;

TEST_F(Writing, TextComesBack) {
  std::string const text =
      "Gr\xc3\xb6\xc3\x9f"
      "e \xe2\x86\x92 2 lines\n";
  Writer writer(folder / "a.hdf5");
  writer.write_attribute_text("/", "text", text);
  writer.write_attribute_text("/", "none", "");
  writer.commit();
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.attribute_text("/", "text"), text);
  EXPECT_EQ(reader.attribute_text("/", "none"), "");
}

TEST_F(Writing, TextHasAFixedLength) {
  Writer writer(folder / "a.hdf5");
  writer.write_attribute_text("/", "text", "words");
  writer.write_attribute_text("/", "longest", std::string(60'000, 'x'));
  expect_parts(
      message_of([&] { writer.write_attribute_text("/", "more", std::string(60'001, 'x')); }),
      {"at most 60000 bytes", "not 60001"});
  writer.commit();
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.attribute_text("/", "text", 5), "words");
  EXPECT_EQ(reader.attribute_text("/", "longest", 60'000), std::string(60'000, 'x'));
}

TEST_F(Writing, AFileMayEndWithAChecksum) {
  for (char const* name : {"a.hdf5", "c.hdf5"}) {
    Writer writer(folder / name, {.checked = true});
    writer.write("groups/of/x", some_values<double>(300));
    writer.make_group("group");
    writer.write_attribute("group", "one", 1);
    writer.commit();
    coir::io::verify_checksum(folder / name);
    EXPECT_EQ(Reader(folder / name).read<double>("groups/of/x"), some_values<double>(300));
    if (name[0] == 'a') ::sleep(1);  // the time of writing isn't in it
  }
  EXPECT_TRUE(read_text(folder / "a.hdf5") == read_text(folder / "c.hdf5"));
  // Without one there is none.
  Writer(folder / "b.hdf5").commit();
  EXPECT_THROW(coir::io::verify_checksum(folder / "b.hdf5"), coir::InputError);
  // Stopped, it leaves what was there.
  std::string const before = read_text(folder / "a.hdf5");
  {
    Writer writer(folder / "a.hdf5", {.checked = true});
    EXPECT_THROW(writer.commit([] { throw std::runtime_error("stop"); }), std::runtime_error);
  }
  EXPECT_EQ(read_text(folder / "a.hdf5"), before);
}

TEST_F(Writing, TheNameIsGivenApart) {
  begin(folder / "a.hdf5").commit();
  std::string const before = read_text(folder / "a.hdf5");
  Writer writer(folder / "a.hdf5", {.checked = true});
  writer.write("x", some_values<double>(3));
  writer.sync();
  EXPECT_EQ(read_text(folder / "a.hdf5"), before);
  expect_parts(message_of([&] { writer.make_group("late"); }), {"nothing can be written after"});
  writer.commit();
  EXPECT_EQ(Reader(folder / "a.hdf5").read<double>("x"), some_values<double>(3));
  EXPECT_EQ(folder.entries(), 1);
  coir::io::verify_checksum(folder / "a.hdf5");
}

TEST_F(Writing, MakesGroupsOnce) {
  Writer writer(folder / "a.hdf5");
  writer.make_group("a/b");
  writer.make_group("a/b");
  writer.make_group("a");
  writer.make_group("/");
  writer.commit();
  Reader const reader(folder / "a.hdf5");
  EXPECT_TRUE(reader.has("a/b"));
  EXPECT_TRUE(reader.has("/a"));
  EXPECT_FALSE(reader.has("b"));
}

TEST_F(Writing, BeingKilledLeavesTheOldFileWhole) {
  begin(folder / "a.hdf5").commit();
  std::string const before = read_text(folder / "a.hdf5");
  pid_t const child = ::fork();
  if (child == 0) {
    Writer writer(folder / "a.hdf5");
    writer.write("other", std::vector<double>(1000, 1.5));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_text(folder / "a.hdf5"), before);
}

TEST_F(Writing, AFullDiskIsAnErrorAndLeavesNothing) {
  put(folder / "a.hdf5", "before");
  ::testing::internal::CaptureStderr();
  std::string const text = message_of<ResourceError>([&] {
    FileSizeLimit const limit(1 << 16);
    Writer(folder / "a.hdf5").write("x", std::vector<double>(100'000));
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  expect_parts(text, {(folder / "a.hdf5").string(), "can't be written", "free some space"});
  EXPECT_EQ(read_text(folder / "a.hdf5"), "before");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(Writing, AFullDiskIsNamedByWhateverIsMadeLast) {
  auto const fill = [&](auto const& make) {
    return message_of<ResourceError>([&] {
      FileSizeLimit const limit(1 << 12);
      Writer writer(folder / "a.hdf5");
      for (int n = 0; n < 100'000; ++n) make(writer, "x" + std::to_string(n));
    });
  };
  for (std::string const &text :
       {fill([](Writer& to, std::string const& name) { to.make_group(name); }),
        fill([](Writer& to, std::string const& name) { to.make_dataset(name, Type::int8, {1}); })})
    expect_parts(text, {"a.hdf5: can't be written (File too large)", "free some space"});
}

TEST_F(Writing, ADiskThatIsFullOnlyAtTheEndIsAnError) {
  Writer writer = begin(folder / "a.hdf5");
  {
    FileSizeLimit const limit(0);
    expect_parts(message_of<ResourceError>([&] { writer.commit(); }), {"free some space"});
  }
  expect_parts(message_of([&] { writer.commit(); }), {"nothing can be written after"});
  writer = Writer(folder / "b.hdf5");
  EXPECT_EQ(folder.entries(), 1);  // what the other one has begun
  EXPECT_FALSE(fs::exists(folder / "a.hdf5"));
}

TEST_F(Writing, AfterAFullDiskOnlyLettingGoIsLeft) {
  Writer writer(folder / "a.hdf5");
  writer.make_dataset("x", Type::float64, {200'000});
  std::vector<double> const half(100'000);
  {
    FileSizeLimit const limit(1 << 16);
    message_of<ResourceError>([&] { writer.append("x", std::span<double const>(half)); });
  }
  expect_parts(message_of([&] { writer.append("x", std::span<double const>(half)); }),
               {"nothing can be written after commit() or an error"});
  message_of([&] { writer.make_group("g"); });
  message_of([&] { writer.write_attribute("/", "n", 1); });
}

TEST_F(Writing, AFolderOrADeviceIsAnError) {
  expect_parts(message_of<ResourceError>([&] { Writer{folder.path()}; }), {"Is a directory"});
  expect_parts(message_of<ResourceError>([] { Writer("/dev/null"); }),
               {"/dev/null: can't be written", "is a device or a pipe", "needs a file"});
}

TEST_F(Writing, NamesMustBeWhole) {
  for (std::string const name : {"", "//", "a//b", "a/", "a/./b"})
    expect_parts(refusal([&](Writer& w) { w.make_group(name); }), {"'a/b'"});
}

TEST_F(Writing, NamesMustBeFree) {
  expect_parts(refusal([](Writer& w) { w.write("group/numbers", std::vector<int>{1}); }),
               {"a.hdf5: there must be no 'group/numbers' yet"});
  expect_parts(refusal([](Writer& w) { w.make_dataset("group", Type::int8, {1}); }),
               {"there must be no 'group' yet"});
  expect_parts(refusal([](Writer& w) { w.make_group("group/numbers"); }),
               {"'group/numbers' must be no dataset"});
  expect_parts(refusal([](Writer& w) {
                 w.write_attribute("group", "n", 1);
                 w.write_attribute("group", "n", 2);
               }),
               {"there must be no attribute 'n' of 'group' yet"});
}

TEST_F(Writing, ADatasetHoldsNoOthers) {
  expect_parts(refusal([](Writer& w) { w.make_dataset("group/numbers/x", Type::int8, {1}); }),
               {"'group/numbers' must be no dataset to hold 'group/numbers/x'"});
  expect_parts(refusal([](Writer& w) { w.make_group("group/numbers/a/b"); }),
               {"'group/numbers' must be no dataset"});
}

TEST_F(Writing, AttributesNeedAnObjectANameAndValues) {
  expect_parts(refusal([](Writer& w) { w.write_attribute("nothing", "n", 1); }),
               {"must be made first, not 'nothing'"});
  expect_parts(refusal([](Writer& w) { w.write_attribute("group", "", 1); }), {"must have a name"});
  expect_parts(
      refusal([](Writer& w) { w.write_attribute_array("group", "n", std::vector<int>()); }),
      {"1 to 60000 bytes"});
  expect_parts(
      refusal([](Writer& w) { w.write_attribute_array("group", "n", std::vector<int>(15'001)); }),
      {"1 to 60000 bytes", "write a dataset"});
  expect_parts(
      refusal([](Writer& w) { w.write_attribute_text("group", "n", std::string_view("a\0b", 3)); }),
      {"null character"});
}

TEST_F(Writing, AttributesMayHaveAsMuchAsTheLimitSays) {
  std::vector<double> const values = some_values<double>(7500);
  Writer writer(folder / "a.hdf5");
  writer.write_attribute_array("/", "n", values);
  writer.commit();
  EXPECT_EQ(Reader(folder / "a.hdf5").attribute_array<double>("/", "n"), values);
}

TEST_F(Writing, ShapesHaveOneToFourExtents) {
  for (Shape const& shape : {Shape{}, Shape{1, 1, 1, 1, 1}, Shape{2, -1}})
    expect_parts(refusal([&](Writer& w) { w.make_dataset("x", Type::int8, shape); }),
                 {"the shape of 'x' must be 1 to 4 extents"});
}

TEST_F(Writing, ValuesMustFillTheShape) {
  expect_parts(refusal([](Writer& w) { w.write("x", std::vector<int>(5), {2, 3}); }),
               {"'x' of shape (2, 3) needs 6 values, not 5"});
}

TEST_F(Writing, RowsMustBeOfADatasetOfItsTypeWholeAndMissing) {
  std::vector<int> const values(7);
  std::span<int const> const all(values);
  expect_parts(refusal([&](Writer& w) { w.append("x", all); }), {"must be made first, not 'x'"});
  expect_parts(refusal([&](Writer& w) { w.append("group/numbers", all.first(1)); }),
               {"rows for 'group/numbers' must be no more than are missing, 0, not 1"});

  Writer writer(folder / "a.hdf5");
  writer.make_dataset("x", Type::int32, {3, 2});
  expect_parts(message_of([&] { writer.append("x", all.first(3)); }),
               {"must be whole, 2 elements each, not 3"});
  std::vector<float> const floats(2);
  expect_parts(message_of([&] { writer.append("x", std::span<float const>(floats)); }),
               {"must be int32, not float32"});
  writer.append("x", all.first(4));
  expect_parts(message_of([&] { writer.commit(); }),
               {"'x' must get all of its 3 rows before commit(), not 2"});
  writer.append("x", all.first(2));
  writer.commit();
  expect_parts(message_of([&] { writer.commit(); }), {"nothing can be written after commit()"});
}
