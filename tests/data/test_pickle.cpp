#include "data/pickle.h"

#include <catch2/catch.hpp>

#include "data/cifar_pickle.h"
#include "data/data_files.h"

namespace acgan {
namespace {

using Catch::Contains;
using test::Bytes;
using test::error_of;
using test::PickleStyle;
using test::PickleWriter;

constexpr PickleStyle kStyles[] = {PickleStyle::Python2Protocol0, PickleStyle::Python2Protocol2,
                                   PickleStyle::Python3Protocol2, PickleStyle::Python3Protocol4};

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string error_with(const Bytes& bytes) {
  return error_of(ErrorKind::Data, [&] { const Pickle pickle(bytes, "some/batch"); });
}

std::string error_with(const std::string& text) { return error_with(bytes_of(text)); }

}  // namespace

TEST_CASE("pickles hold the same whoever wrote them") {
  const Bytes data = test::pattern(300, 1);  // all byte values
  for (const PickleStyle style : kStyles) {
    PickleWriter writer(style);
    writer.begin_dict().text("labels").integers({0, 255, 256, 70000, -1});
    writer.text("data").array(3, 100, data).text("names").texts({"a b", "it's \"\\\n\xff"});
    const Pickle pickle(writer.end_dict(), "batch");
    CHECK(pickle.keys() == "labels, data, names");
    CHECK(pickle.integers("labels") == std::vector<std::int64_t>{0, 255, 256, 70000, -1});
    CHECK(pickle.texts("names") == std::vector<std::string>{"a b", "it's \"\\\n\xff"});
    const PickleArray& array = pickle.array("data");
    CHECK(array.rows == 3);
    CHECK(array.columns == 100);
    CHECK_FALSE(array.is_column_major);
    CHECK(Bytes(array.data.begin(), array.data.end()) == data);
  }
}

TEST_CASE("a pickle's rarer ways to write a value are understood") {
  const std::string dict = "(dV\\u0061\\U00000062c\np0\n(lI7\naL-8L\naL9\nag0\na0";
  CHECK_THAT(error_with(dict), Contains("operation 0x30"));  // POP is not needed
  const Pickle lines(bytes_of("(dVk\\u0065y\np0\n(lI7\naL-8L\naL9\nas."), "batch");
  CHECK(lines.integers("key") == std::vector<std::int64_t>{7, -8, 9});
  const Pickle longs(bytes_of(std::string("\x80\x02}U\x01k](\x8a\x01\xff\x8a\x00\x8a\x08", 15) +
                              std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8) +
                              "M\x01\x02"
                              "es."),
                     "batch");
  CHECK(longs.integers("k") == std::vector<std::int64_t>{-1, 0, 9223372036854775807, 0x201});
  PickleWriter writer(PickleStyle::Python2Protocol2);
  writer.begin_dict().text("data").array(2, 3, {1, 2, 3, 4, 5, 6}, true);
  CHECK(Pickle(writer.end_dict(), "batch").array("data").is_column_major);
}

TEST_CASE("bytes as Python 3 writes them in protocol 0 take no more room than they may") {
  const std::string high(20000, '\xff');
  const Pickle pickle(bytes_of("(dVnames\n(lc_codecs\nencode\n(V" + high + "\nVlatin1\ntRas."),
                      "batch");
  CHECK(pickle.texts("names") == std::vector<std::string>{high.substr(0, 1000)});
}

TEST_CASE("nothing that a pickle names is carried out") {
  CHECK_THAT(error_with("cos\nsystem\n(S'touch owned'\ntR."),
             Contains("some/batch") && Contains("at byte 11") && Contains("os.system"));
  CHECK_THAT(error_with("c__builtin__\neval\n(S'1'\ntR."), Contains("__builtin__.eval"));
  CHECK_THAT(error_with("\x80\x04\x8c\x05posix\x8c\x06system\x93."), Contains("posix.system"));
  CHECK_THAT(error_with("cnumpy\nload\n."), Contains("numpy.load"));
  CHECK_THAT(error_with("c\x1b[2J\nx\n."), Contains("?[2J.x"));  // no control bytes in messages
  CHECK_THAT(error_with("(S'x'\nios\nsystem\n."), Contains("operation 0x69"));
  CHECK_THAT(error_with("(cos\n"), Contains("a line has no end"));
  CHECK_THAT(error_with("cnumpy\nndarray\n)R."), Contains("no function"));
  CHECK_THAT(error_with("cnumpy\nndarray\n)b."), Contains("takes none"));
  CHECK_THAT(error_with("c_codecs\nencode\n(S'x'\nS'rot13'\ntR."), Contains("'latin1'"));
}

TEST_CASE("damaged pickles are told with the byte") {
  CHECK_THAT(error_with(""), Contains("at byte 0 1 more bytes were expected and 0 are there"));
  CHECK_THAT(error_with("\x80\x05."), Contains("newer protocol"));
  CHECK_THAT(error_with("}"), Contains("at byte 1"));
  CHECK_THAT(error_with("."), Contains("a value is missing"));
  CHECK_THAT(error_with("}}."), Contains("ends within"));
  CHECK_THAT(error_with("}.x"), Contains("something follows"));
  CHECK_THAT(error_with("]."), Contains("not of a dictionary"));
  CHECK_THAT(error_with("}(I1\nu."), Contains("key without a value"));
  CHECK_THAT(error_with("}I1\na."), Contains("no such container"));
  CHECK_THAT(error_with("u."), Contains("mark is missing"));
  CHECK_THAT(error_with("](t]."), Contains("ends within"));
  CHECK_THAT(error_with("(]t(e."), Contains("no such container"));
  CHECK_THAT(error_with("I12x\n."), Contains("number is malformed"));
  CHECK_THAT(error_with("L99999999999999999999L\n."), Contains("more than 64 bits"));
  CHECK_THAT(error_with("S'abc\n."), Contains("text is malformed"));
  CHECK_THAT(error_with("S'\\q'\n."), Contains("text is malformed"));
  CHECK_THAT(error_with("V\\u12\n."), Contains("text is malformed"));
  CHECK_THAT(error_with("h\x05."), Contains("not kept"));
  CHECK_THAT(error_with("g7\n."), Contains("not kept"));
  CHECK_THAT(error_with("T\xff\xff\xff\xff"
                        "abc"),
             Contains("4294967295 more bytes"));
}

TEST_CASE("hostile pickles take neither depth nor memory") {
  CHECK_THAT(error_with(std::string(1 << 16, '(')), Contains("nested too deeply"));
  // A tuple in a tuple in a tuple: as deep as there are bytes, and no deeper call.
  CHECK_THAT(error_with(")" + std::string(900000, '\x85') + "."), Contains("not of a dictionary"));
  CHECK_THAT(error_with(std::string(std::size_t{3} << 20, ']')), Contains("more than 2^20 values"));
  CHECK_THAT(error_with("]r\xff\xff\xff\xff."), Contains("memo"));
  CHECK_THAT(error_with("]q" + std::string("\0", 1) + "(h" + std::string("\0", 1) + "e."),
             Contains("not of a dictionary"));  // a list that holds itself
  // A text of 100 KB, decoded again and again.
  std::string bomb = "c_codecs\nencode\nq\x01X" + std::string("\x00\x90\x01\x00", 4) +
                     std::string(102400, 'a') + "q\x02X" + std::string("\x06\x00\x00\x00", 4) +
                     "latin1q\x03";
  for (int i = 0; i < 100; ++i) bomb += "h\x01h\x02h\x03\x86R";
  CHECK_THAT(error_with(bomb + "."), Contains("three times the file's size"));
}

TEST_CASE("arrays must be what they claim") {
  const auto error_of_array = [](const std::string& shape, const std::string& dtype,
                                 const std::string& data) {
    return error_with(
        "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n" + shape +
        "cnumpy\ndtype\n(S'" + dtype + "'\nI0\nI1\ntR(I3\ntbI00\n" + data + "tb.");
  };
  const std::string two_by_two = "(I2\nI2\nt";
  CHECK_THAT(error_of_array(two_by_two, "u1", "S'abc'\n"),
             Contains("shape (2, 2)") && Contains("3 bytes"));
  CHECK_THAT(error_of_array(two_by_two, "f4", "S'abcd'\n"), Contains("'f4'"));
  CHECK_THAT(error_of_array(two_by_two, "O8", "(l"), Contains("malformed"));
  CHECK_THAT(error_of_array("(I4\nt", "u1", "S'abcd'\n"), Contains("two numbers"));
  CHECK_THAT(error_of_array("(I-2\nI-2\nt", "u1", "S'abcd'\n"), Contains("two numbers"));
  CHECK_THAT(error_of_array("(L1152921504606846976L\nI16\nt", "u1", "S''\n"),
             Contains("1152921504606846976"));
  CHECK_THAT(error_of_array("(I3\nI0\nt", "u1", "S'abcd'\n"), Contains("4 bytes"));
}

TEST_CASE("what is asked of a pickle must be there and of that kind") {
  const Pickle pickle(bytes_of("}(U\x01"
                               "aI1\nU\x01"
                               "b](I1\nNeu."),
                      "some/batch");
  const auto error_about = [&](const auto& ask) { return error_of(ErrorKind::Data, ask); };
  CHECK_THAT(error_about([&] { pickle.integers("labels"); }),
             Contains("some/batch") && Contains("no key 'labels' (found: a, b)"));
  CHECK_THAT(error_about([&] { pickle.integers("a"); }), Contains("list of whole numbers"));
  CHECK_THAT(error_about([&] { pickle.integers("b"); }), Contains("list of whole numbers"));
  CHECK_THAT(error_about([&] { pickle.texts("b"); }), Contains("list of texts"));
  CHECK_THAT(error_about([&] { pickle.array("b"); }), Contains("NumPy array"));
}

}  // namespace acgan
