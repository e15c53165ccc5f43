// SVG: the few elements that the charts of reports are made of, as text.
#pragma once

#include <string>

namespace trireme::launch::svg {

struct Rectangle {
  double x = 0.0, y = 0.0, width = 0.0, height = 0.0;
};

enum class Anchor { kStart, kMiddle, kEnd };
enum class Fill { kSolid, kHollow };

// A whole picture on white; `body` is a sequence of elements.
std::string document(double width, double height, const std::string& body);

// Characters that mean something to XML are escaped.
std::string text(double x, double y, Anchor anchor, const std::string& words);
std::string rectangle(const Rectangle& place, const char* colour, Fill fill = Fill::kSolid);
std::string line(double x1, double y1, double x2, double y2, const char* colour);

}  // namespace trireme::launch::svg
