#include <coir/core/errors.hpp>
#include <coir/io/npy.hpp>

#include <gtest/gtest.h>
#include <io/numpy_files.hpp>
#include <io/scratch.hpp>
#include <support/spaces.hpp>

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace io = coir::io;
using namespace coir::testing;
using namespace std::string_literals;
using io::NpyType;

namespace {

template <class Pointers>
using OnHost = Kokkos::View<Pointers, Kokkos::LayoutRight, Kokkos::HostSpace>;

io::NpyArray decode(std::string_view file) { return io::decode_npy(bytes_of(file), "a.npy"); }

std::string refusal(std::string_view file) {
  return message_of<coir::InputError>([&] { (void)decode(file); });
}

// A file of version 1.0 with this dictionary and these elements.
std::string file_of(std::string const& dictionary, std::string const& elements) {
  return "\x93NUMPY\x01\x00"s + static_cast<char>(dictionary.size() & 0xff) +
         static_cast<char>(dictionary.size() >> 8) + dictionary + elements;
}

std::string with_descr(std::string const& descr, std::string const& elements) {
  return file_of("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }\n", elements);
}

std::string with_shape(std::string const& shape, std::string const& elements) {
  return file_of("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n", elements);
}

// The elements of a vector file, read as T.
template <class T>
std::vector<T> elements_of(std::string_view file, io::Rounding rounding = io::Rounding::refuse) {
  auto const view = io::to_view<OnHost<T*>>(decode(file), rounding);
  return {view.data(), view.data() + view.size()};
}

template <class T>
std::string conversion_refusal(std::string_view file) {
  return message_of<coir::InputError>([&] { (void)io::to_view<OnHost<T*>>(decode(file)); });
}

// 0, 1, 2, ... in C order, through a file, into every layout.
template <class T, class Space>
void expect_round_trips() {
  TemporaryFolder const folder;
  for (int rows : {1, 2, 13})
    for (int columns : {1, 7, 31}) {
      Kokkos::View<T**, Kokkos::LayoutRight, Space> const field("field", rows, columns);
      auto const host = Kokkos::create_mirror_view(field);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) host(i, j) = static_cast<T>(i * columns + j);
      Kokkos::deep_copy(field, host);
      io::write_npy(folder / "a.npy", field);
      auto const left =
          io::read_npy<Kokkos::View<T**, Kokkos::LayoutLeft, Space>>(folder / "a.npy");
      io::write_npy(folder / "b.npy", left);
      EXPECT_EQ(read_text(folder / "a.npy"), read_text(folder / "b.npy"))
          << rows << " x " << columns;
      auto const right = io::read_npy<OnHost<T**>>(folder / "b.npy");
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) ASSERT_EQ(right(i, j), host(i, j));
    }
  EXPECT_EQ(folder.entries(), 2);
}

}  // namespace

TEST(Npy, TypesHaveNumPysNames) {
  EXPECT_EQ(io::name_of(NpyType::boolean), "bool");
  EXPECT_EQ(io::name_of(NpyType::int8), "int8");
  EXPECT_EQ(io::name_of(NpyType::uint64), "uint64");
  EXPECT_EQ(io::name_of(NpyType::float32), "float32");
  EXPECT_EQ(io::name_of(NpyType::complex128), "complex128");
  EXPECT_EQ(io::size_of(NpyType::boolean), 1);
  EXPECT_EQ(io::size_of(NpyType::int16), 2);
  EXPECT_EQ(io::size_of(NpyType::float64), 8);
  EXPECT_EQ(io::size_of(NpyType::complex64), 8);
  static_assert(io::npy_type<float> == NpyType::float32);
  static_assert(io::npy_type<long long> == NpyType::int64);
  static_assert(io::npy_type<std::int64_t> == NpyType::int64);
  static_assert(io::npy_type<unsigned char> == NpyType::uint8);
  static_assert(io::npy_type<bool> == NpyType::boolean);
}

TEST(Npy, ReadsWhatNumPyWrote) {
  io::NpyArray const array = decode(numpy::float32_c);
  EXPECT_EQ(array.name, "a.npy");
  EXPECT_EQ(array.type, NpyType::float32);
  EXPECT_FALSE(array.fortran_order);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array.bytes.size(), 24U);
  auto const view = io::to_view<OnHost<float**>>(array);
  EXPECT_EQ(view(0, 0), 0.5f);
  EXPECT_EQ(view(0, 2), -2.0f);
  EXPECT_EQ(view(1, 0), 3.0f);
}

TEST(Npy, ReadsFortranOrder) {
  io::NpyArray const array = decode(numpy::float64_fortran);
  EXPECT_TRUE(array.fortran_order);
  auto const view = io::to_view<OnHost<double**>>(array);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(view(i, j), i == 0 && j == 0 ? 1.5 : 1 + 3 * i + j);
  auto const cube = io::to_view<OnHost<int***>>(decode(numpy::rank_3_fortran));
  for (int n = 0; n < 24; ++n) EXPECT_EQ(cube(n / 12, n / 4 % 3, n % 4), n);
}

TEST(Npy, ReadsBothByteOrders) {
  EXPECT_EQ(elements_of<double>(numpy::float64_big_endian), (std::vector<double>{1, -0.1, 1e300}));
  auto const view = io::to_view<OnHost<std::int16_t**>>(decode(numpy::int16_big_endian_fortran));
  for (int n = 0; n < 6; ++n) EXPECT_EQ(view(n / 3, n % 3), n - 3);
  EXPECT_EQ(elements_of<std::uint16_t>(with_descr("<u2", "\x01\x02")),
            (std::vector<std::uint16_t>{0x0201}));
  EXPECT_EQ(elements_of<std::uint16_t>(with_descr(">u2", "\x01\x02")),
            (std::vector<std::uint16_t>{0x0102}));
}

TEST(Npy, NativeByteOrderHasTwoSigns) {
  std::uint32_t const value = 0x01020304;
  std::string const bytes(reinterpret_cast<char const*>(&value), 4);
  EXPECT_EQ(elements_of<std::uint32_t>(with_descr("=u4", bytes))[0], value);
  EXPECT_EQ(elements_of<std::uint32_t>(with_descr("|u4", bytes))[0], value);
  EXPECT_EQ(elements_of<std::uint8_t>(with_descr(">u1", "\x07"))[0], 7);
}

TEST(Npy, ReadsAllVersions) {
  EXPECT_EQ(elements_of<int>(numpy::version_2), (std::vector<int>{7, 8}));
  EXPECT_EQ(elements_of<int>(numpy::version_3), (std::vector<int>{7, 8}));
}

TEST(Npy, ReadsSingleNumbersAndEmptyArrays) {
  EXPECT_EQ(io::to_view<OnHost<int>>(decode(numpy::scalar))(), 42);
  auto const empty = io::to_view<OnHost<float**>>(decode(numpy::empty));
  EXPECT_EQ(empty.extent(0), 0U);
  EXPECT_EQ(empty.extent(1), 3U);
}

TEST(Npy, BooleansAreReadAsAnyNumber) {
  EXPECT_EQ(elements_of<float>(numpy::booleans), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(elements_of<int>(with_descr("|b1", "\xff")), (std::vector<int>{1}));
  auto const view = io::to_view<OnHost<bool*>>(decode(numpy::booleans));
  EXPECT_TRUE(view(0));
  EXPECT_FALSE(view(1));
}

TEST(Npy, TheDictionaryMayBeWrittenFreely) {
  for (std::string const dictionary :
       {"{'descr':'|u1','fortran_order':False,'shape':(1,)}",
        "{'shape': (1,), 'fortran_order': "
        "True, 'descr': '|u1'}",
        "{ \"descr\" : \"|u1\" ,\n\t'fortran_order' : False , 'shape' : ( 1 "
        ", ) , } \n ",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1L,), }"})
    EXPECT_EQ(elements_of<int>(file_of(dictionary, "\x05")), (std::vector<int>{5})) << dictionary;
  EXPECT_EQ(decode(with_shape("(2, 3)", "abcdef")).shape.size(), 2U);
  EXPECT_EQ(decode(with_shape("(2, 3,)", "abcdef")).shape.size(), 2U);
}

TEST(Npy, IntegersConvertWhereTheyFit) {
  EXPECT_EQ(elements_of<std::int8_t>(with_descr("<i2", "\x80\xff")),
            (std::vector<std::int8_t>{-128}));
  EXPECT_EQ(elements_of<std::int64_t>(with_descr("|i1", "\xff")), (std::vector<std::int64_t>{-1}));
  expect_parts(conversion_refusal<std::int8_t>(with_descr("<i2", "\x7f\xff")),
               {"a.npy", "element [0] is -129", "range of int8"});
  expect_parts(conversion_refusal<unsigned>(with_descr("|i1", "\xff")), {"is -1", "uint32"});
  expect_parts(conversion_refusal<std::int64_t>(numpy::uint64),
               {"is 18446744073709551615", "int64"});
  std::string const matrix = file_of("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3), }",
                                     "\x01\x00\x02\x00\x03\x00\x04\x00\x05\x01\x06\x00"s);
  expect_parts(message_of<coir::InputError>(
                   [&] { (void)io::to_view<OnHost<std::uint8_t**>>(decode(matrix)); }),
               {"element [0, 2] is 261"});
}

TEST(Npy, IntegersBecomeTheNearestFloat) {
  EXPECT_EQ(elements_of<double>(numpy::uint64), (std::vector<double>{18446744073709551616.0}));
  EXPECT_EQ(elements_of<float>(with_descr("<i4", "\x01\x00\x00\x01"s)),
            (std::vector<float>{16777216.0f}));
}

TEST(Npy, FloatsWiden) {
  auto const view = io::to_view<OnHost<double**>>(decode(numpy::float32_c));
  EXPECT_EQ(view(0, 2), -2.0);
}

TEST(Npy, DoublesAreRoundedOnlyOnRequest) {
  std::string const tenth = with_descr(">f8", "\x3f\xb9\x99\x99\x99\x99\x99\x9a");
  expect_parts(conversion_refusal<float>(tenth), {"a.npy: holds float64", "float32 can't hold"});
  EXPECT_EQ(elements_of<float>(tenth, io::Rounding::allow), (std::vector<float>{0.1f}));
  expect_parts(message_of<coir::InputError>(
                   [&] { elements_of<float>(numpy::float64_big_endian, io::Rounding::allow); }),
               {"element [2] is 1.0000000000000001e+300", "range of float32"});
  std::string const infinity = with_descr(">f8", "\x7f\xf0\x00\x00\x00\x00\x00\x00"s);
  EXPECT_EQ(elements_of<float>(infinity, io::Rounding::allow)[0],
            std::numeric_limits<float>::infinity());
}

TEST(Npy, ComplexNumbersAreReadInBothByteOrders) {
  using Float = Kokkos::complex<float>;
  using Double = Kokkos::complex<double>;
  EXPECT_EQ(elements_of<Float>(numpy::complex64), (std::vector<Float>{0, 0}));
  EXPECT_EQ(decode(numpy::complex64).type, NpyType::complex64);
  std::string const one = with_descr(">c8", "\x3f\x80\x00\x00\xc0\x00\x00\x00"s);  // 1 - 2j
  EXPECT_EQ(elements_of<Float>(one), (std::vector<Float>{{1, -2}}));
  EXPECT_EQ(elements_of<Double>(one), (std::vector<Double>{{1, -2}}));
  auto const matrix = io::to_view<OnHost<Double**>>(decode(numpy::complex128_fortran));
  EXPECT_EQ(matrix(0, 0), Double(1, 2));
  EXPECT_EQ(matrix(0, 1), Double(3));
  EXPECT_EQ(matrix(1, 0), Double(0, -0.1));
  EXPECT_EQ(matrix(1, 1), Double(4));
}

TEST(Npy, ComplexNumbersConvertAsTheirPartsDo) {
  using Float = Kokkos::complex<float>;
  using Double = Kokkos::complex<double>;
  EXPECT_EQ(elements_of<Float>(numpy::booleans), (std::vector<Float>{1, 0, 1}));
  EXPECT_EQ(elements_of<Double>(numpy::float64_big_endian)[1], Double(-0.1));
  std::string const tenth = with_descr("<c16",
                                       "\x9a\x99\x99\x99\x99\x99\xb9\x3f"
                                       "\x00\x00\x00\x00\x00\x00\x00\x00"s);
  expect_parts(conversion_refusal<Float>(tenth), {"holds complex128", "complex64 can't hold"});
  EXPECT_EQ(elements_of<Float>(tenth, io::Rounding::allow), (std::vector<Float>{0.1f}));
  expect_parts(conversion_refusal<double>(tenth), {"holds complex128", "float64 can't hold"});
  expect_parts(conversion_refusal<bool>(numpy::complex64), {"holds complex64"});
  std::string const huge = with_descr(">c16",
                                      "\x3f\xf0\x00\x00\x00\x00\x00\x00"
                                      "\xfe\x37\xe4\x3c\x88\x00\x75\x9c"s);
  expect_parts(message_of<coir::InputError>([&] { elements_of<Float>(huge, io::Rounding::allow); }),
               {"element [0] is 1-1.0000000000000001e+300j", "range of complex64"});
}

TEST(Npy, FloatsNeverBecomeIntegersNorNumbersBooleans) {
  expect_parts(conversion_refusal<int>(numpy::float64_big_endian), {"float64", "int32", "astype"});
  expect_parts(conversion_refusal<bool>(with_descr("|u1", "\x01")), {"uint8", "bool"});
}

TEST(Npy, AnotherRankOrShapeIsAnError) {
  expect_parts(message_of<coir::InputError>(
                   [] { (void)io::to_view<OnHost<float*>>(decode(numpy::float32_c)); }),
               {"a.npy: has 2 dimensions", "(2, 3)", "1 are needed", "reshape"});
  OnHost<float**> const other("other", 3, 2);
  expect_parts(
      message_of<coir::InputError>([&] { io::copy_to_view(decode(numpy::float32_c), other); }),
      {"a.npy: has the shape (2, 3)", "(3, 2) is needed"});
}

TEST(Npy, FillsPartOfAView) {
  Kokkos::View<float**, Kokkos::LayoutRight, Device> const ringed("ringed", 4, 5);
  auto const inner = Kokkos::subview(ringed, Kokkos::pair(1, 3), Kokkos::pair(1, 4));
  io::copy_to_view(decode(numpy::float32_c), inner);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ringed);
  EXPECT_EQ(host(1, 1), 0.5f);
  EXPECT_EQ(host(2, 3), 5.0f);
  EXPECT_EQ(host(0, 0), 0.0f);
  EXPECT_EQ(host(2, 4), 0.0f);
}

TEST(Npy, GoesThroughAFileUnchanged) {
  expect_round_trips<float, Device>();
  expect_round_trips<double, Device>();
  expect_round_trips<int, Device>();
  expect_round_trips<std::uint16_t, Device>();
  expect_round_trips<Kokkos::complex<float>, Device>();
  expect_round_trips<Kokkos::complex<double>, Device>();
  expect_round_trips<std::int64_t, Kokkos::HostSpace>();
  expect_round_trips<long long, Kokkos::HostSpace>();
}

TEST(Npy, IsWrittenAsNumPyWritesIt) {
  TemporaryFolder const folder;
  io::write_npy(folder / "a.npy", io::to_view<OnHost<float**>>(decode(numpy::float32_c)));
  EXPECT_EQ(read_text(folder / "a.npy"), numpy::float32_c);
  io::write_npy(folder / "a.npy", io::to_view<OnHost<std::int64_t>>(decode(numpy::scalar)));
  EXPECT_EQ(read_text(folder / "a.npy"), numpy::scalar);
  io::write_npy(folder / "a.npy", io::to_view<OnHost<bool*>>(decode(numpy::booleans)));
  EXPECT_EQ(read_text(folder / "a.npy"), numpy::booleans);
  io::write_npy(folder / "a.npy", io::to_view<OnHost<float**>>(decode(numpy::empty)));
  EXPECT_EQ(read_text(folder / "a.npy"), numpy::empty);
  io::write_npy(folder / "a.npy",
                io::to_view<OnHost<Kokkos::complex<float>*>>(decode(numpy::complex64)));
  EXPECT_EQ(read_text(folder / "a.npy"), numpy::complex64);
}

TEST(Npy, ElementsStartAtAMultipleOf64Bytes) {
  TemporaryFolder const folder;
  io::write_npy(folder / "a.npy",
                Kokkos::View<double********, Device>("v", 1, 1, 1, 1, 1, 1, 1, 3));
  EXPECT_EQ((read_text(folder / "a.npy").size() - 3 * 8) % 64, 0U);
  EXPECT_EQ(io::read_npy(folder / "a.npy").shape.size(), 8U);
}

TEST(Npy, PartsOfAViewAreWritten) {
  TemporaryFolder const folder;
  auto const view =
      io::to_view<Kokkos::View<float**, Kokkos::LayoutRight, Device>>(decode(numpy::float32_c));
  io::write_npy(folder / "a.npy", Kokkos::subview(view, Kokkos::ALL, 1));
  auto const column = io::read_npy<OnHost<float*>>(folder / "a.npy");
  EXPECT_EQ(column.extent(0), 2U);
  EXPECT_EQ(column(0), 1.0f);
  EXPECT_EQ(column(1), 4.0f);
}

TEST(Npy, AFileThatCannotBeWrittenIsAnError) {
  TemporaryFolder const folder;
  OnHost<float*> const view("v", 3);
  EXPECT_THROW(io::write_npy(folder / "missing/a.npy", view), coir::ResourceError);
  EXPECT_THROW(io::write_npy(folder.path(), view), coir::ResourceError);
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Npy, AFileThatCannotBeReadIsAnError) {
  TemporaryFolder const folder;
  EXPECT_THROW(io::read_npy(folder / "a.npy"), coir::InputError);
  EXPECT_THROW(io::read_npy<OnHost<float*>>(folder.path()), coir::InputError);
}

TEST(Npy, AnotherMagicNumberIsAnError) {
  expect_parts(refusal(""), {"a.npy", "93 4e 55 4d 50 59"});
  expect_parts(refusal("\x89PNG\r\n\x1a\n"), {"89 50 4e 47 0d 0a", "numpy.save"});
}

TEST(Npy, AnotherVersionIsAnError) {
  std::string file = numpy::float32_c;
  file[6] = 4;
  expect_parts(refusal(file), {"version at byte 6 is 4.0", "1.0, 2.0 or 3.0"});
  file[6] = 1;
  file[7] = 1;
  expect_parts(refusal(file), {"is 1.1"});
}

TEST(Npy, ACutFileIsAnErrorAtEveryByte) {
  for (std::string const& file : {numpy::float32_c, numpy::version_2})
    for (std::size_t n = 0; n < file.size(); ++n)
      EXPECT_THROW(decode(file.substr(0, n)), coir::InputError) << n;
  expect_parts(refusal(numpy::float32_c.substr(0, 7)), {"ends at byte 7", "the version"});
  expect_parts(refusal(numpy::float32_c.substr(0, 9)), {"ends at byte 9", "header's length"});
  expect_parts(refusal(numpy::float32_c.substr(0, 100)), {"ends at byte 100", "ends at byte 128"});
  expect_parts(refusal(numpy::float32_c.substr(0, 151)), {"(2, 3)", "float32", "the 23 bytes"});
  expect_parts(refusal(numpy::scalar.substr(0, 130)), {"the shape () of int64", "the 2 bytes"});
}

TEST(Npy, BytesBehindTheElementsAreAnError) {
  expect_parts(refusal(numpy::float32_c + "x"),
               {"takes 24 bytes, and 25 follow", "several arrays"});
  expect_parts(refusal(numpy::empty + "x"), {"takes 0 bytes, and 1 follow"});
}

TEST(Npy, AHeaderLengthBeyondTheFileOrOneMiBIsAnError) {
  expect_parts(refusal("\x93NUMPY\x02\x00\x00\x00\x10\x00{"s),
               {"ends at byte 13", "the header ends at byte 1048588"});
  expect_parts(refusal("\x93NUMPY\x02\x00\x01\x00\x10\x00{"s),
               {"the header has 1048577 bytes", "at most 1048576", "numpy.save"});
}

TEST(Npy, AbsurdShapesAreAnErrorAndNoMemory) {
  expect_parts(refusal(with_shape("(99999999, 99999999)", "abc")),
               {"(99999999, 99999999)", "needs more than the 3 bytes"});
  expect_parts(refusal(with_shape("(4294967296, 4294967296)", "")), {"needs more"});
  expect_parts(refusal(with_shape("(9223372036854775807, 2, 1)", "")), {"needs more"});
  expect_parts(refusal(with_shape("(0, 9223372036854775807, 2)", "")), {"needs more"});
  expect_parts(refusal(with_shape("(9223372036854775808,)", "")),
               {"from 0 to 9223372036854775807"});
  std::string many = "(";
  for (int n = 0; n < 65; ++n) many += "1, ";
  expect_parts(refusal(with_shape(many + ")", "x")), {"up to 64 extents"});
}

TEST(Npy, SlicesAreReadFromEitherOrder) {
  TemporaryFolder const folder;
  auto const write = [&](std::string const& bytes) {
    std::ofstream(folder / "a.npy", std::ios::binary) << bytes;
    return folder / "a.npy";
  };
  for (std::string const& file :
       {numpy::float32_c, numpy::float64_fortran, numpy::int16_big_endian_fortran}) {
    auto const path = write(file);
    EXPECT_EQ(io::npy_shape(path), (std::vector<std::int64_t>{2, 3}));
    auto const whole = io::read_npy<OnHost<double**>>(path);
    for (std::int64_t first = 0; first <= 2; ++first)
      for (std::int64_t count = 0; first + count <= 2; ++count) {
        auto const part = io::to_view<OnHost<double**>>(io::read_npy_slices(path, first, count));
        ASSERT_EQ(part.extent(0), static_cast<std::size_t>(count));
        ASSERT_EQ(part.extent(1), 3u);
        for (std::size_t i = 0; i < part.extent(0); ++i)
          for (std::size_t j = 0; j < 3; ++j)
            EXPECT_EQ(part(i, j), whole(static_cast<std::size_t>(first) + i, j));
      }
    EXPECT_EQ(message_of([&] { (void)io::read_npy_slices(path, 1, 2); }),
              "slices of " + path.string() + " must be some of its 2 along the first axis, not 3");
    write(file.substr(0, file.size() - 1));
    expect_parts(message_of<coir::InputError>([&] { (void)io::read_npy_slices(path, 0, 1); }),
                 {"a.npy: the shape (2, 3)", "needs more than the ", "cut short"});
  }
}

TEST(Npy, OtherElementTypesAreErrors) {
  expect_parts(refusal(numpy::float16), {"descr is '<f2'", "f4, f8, c8 or c16", "astype"});
  expect_parts(refusal(with_descr("<c32", std::string(32, 'a'))), {"descr is '<c32'"});
  expect_parts(refusal(numpy::text), {"descr is '<U2'"});
  expect_parts(refusal(numpy::objects), {"descr is '|O'"});
  expect_parts(refusal(numpy::structured), {"descr is a list of fields"});
  expect_parts(refusal(with_descr("", "")), {"descr is ''"});
  expect_parts(refusal(with_descr("f4", "abcd")), {"descr is 'f4'"});
  expect_parts(refusal(with_descr("<i3", "abc")), {"descr is '<i3'"});
  expect_parts(refusal(with_descr("<f4\nx", "")), {"descr is '<f4\\x0ax'"});
}

TEST(Npy, AHeaderThatLacksWhatItNeedsIsAnError) {
  auto const message = [](std::string const& dictionary) {
    return refusal(file_of(dictionary, "x"));
  };
  for (std::string const text : {"", "[1]", "{}", "{'descr", "{'descr' '|u1'}"})
    expect_parts(message(text), {"a.npy: the header has no key 'descr'", "numpy.save"});
  expect_parts(message("{'descr': 1}"), {"no descr in quotes"});
  expect_parts(message("{'descr': '|u1"), {"no descr in quotes"});
  std::string const begin = "{'descr': '|u1', ";
  expect_parts(message(begin + "'shape': (1,)}"), {"no key 'fortran_order'"});
  expect_parts(message(begin + "'fortran_order': 1}"), {"neither True nor False"});
  expect_parts(message(begin + "'fortran_order': False}"), {"no key 'shape'"});
  for (std::string const shape : {"[1]", "1", "(1", ""})
    expect_parts(message(begin + "'fortran_order': False, 'shape': " + shape),
                 {"no shape in brackets"});
  for (std::string const shape : {"(-1,)", "(,)", "(1 2)", "(1.5,)", "(1,,1)", "(x,)"})
    expect_parts(message(begin + "'fortran_order': False, 'shape': " + shape),
                 {"has the shape " + shape, "from 0 to 9223372036854775807"});
}
