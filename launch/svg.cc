#include "launch/svg.h"

#include "launch/format.h"

namespace trireme::launch::svg {
namespace {

const char* name_of(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart: return "start";
    case Anchor::kMiddle: return "middle";
    case Anchor::kEnd: return "end";
  }
  return "";
}

std::string escaped(const std::string& words) {
  std::string result;
  for (const char c : words) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace

std::string document(double width, double height, const std::string& body) {
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" "
             "fill=\"white\"/>\n",
             width, height) +
         body + "</svg>\n";
}

std::string text(double x, double y, Anchor anchor, const std::string& words) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, name_of(anchor)) + escaped(words) +
         "</text>\n";
}

std::string rectangle(const Rectangle& place, const char* colour, Fill fill) {
  return format(
      "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"%s\"/>\n",
      place.x, place.y, place.width, place.height, colour, fill == Fill::kHollow ? "0.15" : "1", colour);
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour);
}

}  // namespace trireme::launch::svg
