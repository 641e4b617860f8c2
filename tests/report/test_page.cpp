#include <catch2/catch.hpp>

#include "report/page.h"

namespace acgan::test {

TEST_CASE("a page escapes every text and needs nothing from elsewhere") {
  Page page("a <b> & \"c\"");
  page.heading("<script>alert(1)</script>");
  page.paragraph("5 < 6 & 7");
  page.list({"<i>"});
  page.table({"x<y", "n"}, {{"</td>", "1"}}, 1);
  page.code("a\n<pre>");
  page.details("<summary>", "</details>");
  const std::string html = page.html();
  CHECK_THAT(html, Catch::StartsWith("<!DOCTYPE html>") && Catch::EndsWith("</html>\n"));
  CHECK_THAT(html, Catch::Contains("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
  CHECK_THAT(html, !Catch::Contains("<script") && !Catch::Contains("<i>"));
  CHECK_THAT(html, Catch::Contains("<td class=\"left\">&lt;/td&gt;</td><td>1</td>"));
  CHECK_THAT(html, Catch::Contains("<pre>a\n&lt;pre&gt;</pre>"));
  CHECK_THAT(html, Catch::Contains("&lt;summary&gt;</summary><pre>&lt;/details&gt;</pre>"));
  CHECK_THAT(html, !Catch::Contains("http") && !Catch::Contains("url(") &&
                       Catch::Contains("prefers-color-scheme: dark"));
}

TEST_CASE("pictures are in the page itself, as base64") {
  Page page("p");
  page.picture("M", "one");
  page.picture("Ma", "two");
  page.picture(std::string_view("\0\xff\x10", 3), "three");
  page.figure("<svg/>", "<svg>", "a \"caption\"");
  const std::string html = page.html();
  CHECK_THAT(html, Catch::Contains("src=\"data:image/png;base64,TQ==\""));
  CHECK_THAT(html, Catch::Contains("src=\"data:image/png;base64,TWE=\""));
  CHECK_THAT(html, Catch::Contains("src=\"data:image/png;base64,AP8Q\""));
  CHECK_THAT(html,
             Catch::Contains("dark)\" srcset=\"data:image/svg+xml;base64,PHN2Zz4=\"") &&
                 Catch::Contains("src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"a &quot;"));
}

TEST_CASE("a page is UTF-8, whatever it was given") {
  Page page("t");
  page.paragraph("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  page.paragraph("[\xff] [\xc3] [\xe2\x82] [\xed\xa0\x80] [\xc0\xaf] [\x01]");
  const std::string html = page.html();
  CHECK_THAT(html, Catch::Contains("<p>caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80</p>"));
  const std::string bad = "\xef\xbf\xbd";
  CHECK_THAT(html, Catch::Contains("[" + bad + "] [" + bad + "] [" + bad + bad + "] [" + bad + bad +
                                   bad + "] [" + bad + bad + "] []"));
}

}  // namespace acgan::test
