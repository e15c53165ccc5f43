#include "launch/svg.h"

#include <gtest/gtest.h>

namespace trireme::launch::svg {
namespace {

TEST(SvgTest, WordsCannotBecomeElements) {
  EXPECT_EQ(text(1.0, 2.5, Anchor::kMiddle, "a < b & c > d"),
            "<text x=\"1.0\" y=\"2.5\" text-anchor=\"middle\">a &lt; b &amp; c &gt; d</text>\n");
}

TEST(SvgTest, ADocumentIsWhite) {
  const std::string picture = document(100.0, 50.0, rectangle({1.0, 2.0, 3.0, 4.0}, "#123456", Fill::kHollow));
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\""));
  EXPECT_NE(picture.find("fill=\"white\""), std::string::npos);
  EXPECT_NE(
      picture.find("<rect x=\"1.0\" y=\"2.00\" width=\"3.0\" height=\"4.00\" fill=\"#123456\" fill-opacity=\"0.15\""),
      std::string::npos);
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace trireme::launch::svg
