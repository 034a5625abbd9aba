#include "jail/spec/escape.h"

#include <catch2/catch.hpp>

namespace mayfly {

TEST_CASE("what could move a terminal or deceive a reader is shown as bytes", "[P70]") {
  CHECK(escape("plain text 1") == "plain text 1");
  CHECK(escape("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  CHECK(escape("a\nb\tc\rd\\") == "a\\nb\\tc\\rd\\\\");
  CHECK(escape("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(escape("\x7f") == "\\x7f");
  CHECK(escape("\xc2\x9b") == "\\xc2\\x9b");                    // C1 control CSI
  CHECK(escape("\xe2\x80\xae") == "\\xe2\\x80\\xae");           // right-to-left override
  CHECK(escape("\xf3\xa0\x81\x81") == "\\xf3\\xa0\\x81\\x81");  // tag character
  CHECK(escape(std::string_view("\0x", 2)) == "\\x00x");
}

TEST_CASE("bytes that are not UTF-8 are shown one by one") {
  CHECK(escape("\xff\xfe") == "\\xff\\xfe");
  CHECK(escape("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(escape("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(escape("\xe2\x82") == "\\xe2\\x82");           // cut short
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));            // above U+10FFFF
  CHECK(is_utf8("\xf4\x8f\xbf\xbf"));
}

TEST_CASE("a long text is cut on a character boundary and says so") {
  CHECK(escape("abcdef", 3) == "abc...");
  CHECK(escape("ab\xe2\x82\xac", 4) == "ab...");
  CHECK(utf8_cut("ab\xe2\x82\xac", 4) == 2);
  CHECK(utf8_cut("ab\xe2\x82\xac", 5) == 5);
  CHECK(utf8_cut("\x80\x80\x80\x80\x80\x80", 4) == 4);
}

}  // namespace mayfly
