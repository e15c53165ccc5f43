// Methods of str that take a text apart.
#include <algorithm>
#include <array>
#include <tuple>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/text_search.h"
#include "runtime/chat/jinja/utf8.h"

namespace trireme::chat::jinja {
namespace {

using Pieces = std::vector<std::string_view>;

Pieces split_at(std::string_view text, std::string_view separator, std::int64_t max_splits) {
  Pieces pieces;
  std::size_t begin = 0;
  for (std::int64_t splits = 0; max_splits < 0 || splits < max_splits; ++splits) {
    const std::size_t found = find_text(text, separator, begin);
    if (found == std::string_view::npos) break;
    pieces.push_back(text.substr(begin, found - begin));
    begin = found + separator.size();
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

// From the right: where separators overlap themselves ("aa" in "aaa"), the choice differs from splitting from the left.
Pieces split_at_from_right(std::string_view text, std::string_view separator, std::int64_t max_splits) {
  Pieces pieces;
  for (std::int64_t splits = 0; max_splits < 0 || splits < max_splits; ++splits) {
    const std::size_t found = text.rfind(separator);
    if (found == std::string_view::npos) break;
    pieces.push_back(text.substr(found + separator.size()));
    text = text.substr(0, found);
  }
  pieces.push_back(text);
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

// At runs of whitespace; no empty pieces. What is left after max_splits keeps its whitespace, but for where it begins.
Pieces split_at_spaces(std::string_view text, std::int64_t max_splits, bool from_right) {
  const Pieces parts = characters(text);
  const auto space_at = [&](std::size_t i) {
    return is_space(first_code_point(parts[from_right ? parts.size() - 1 - i : i]));
  };
  Pieces pieces;
  std::size_t i = 0;
  const auto slice = [&](std::size_t begin, std::size_t end) {  // counted from the side that is split first
    if (from_right) std::tie(begin, end) = std::make_pair(parts.size() - end, parts.size() - begin);
    const char* first = parts[begin].data();
    return std::string_view(first, static_cast<std::size_t>(parts[end - 1].data() + parts[end - 1].size() - first));
  };
  while (true) {
    while (i < parts.size() && space_at(i)) ++i;
    if (i == parts.size()) break;
    const std::size_t begin = i;
    if (max_splits >= 0 && static_cast<std::int64_t>(pieces.size()) >= max_splits) {
      pieces.push_back(slice(begin, parts.size()));
      break;
    }
    while (i < parts.size() && !space_at(i)) ++i;
    pieces.push_back(slice(begin, i));
  }
  if (from_right) std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

Value to_list(RenderContext& context, const Pieces& pieces, List::Kind kind = List::Kind::kList) {
  std::vector<Value> items;
  items.reserve(pieces.size());
  for (const std::string_view piece : pieces) items.push_back(context.text(std::string(piece)));
  return context.list(kind, std::move(items));
}

Value split_from(RenderContext& context, const Arguments& arguments, bool from_right) {
  const Parameters parameters(arguments, "split", {"self", "sep", "maxsplit"});
  const std::string_view text = *parameters.self().text();
  context.charge_bytes(text.size());
  const std::int64_t max_splits = parameters.integer(2, -1);
  if (!parameters.has_value(1)) return to_list(context, split_at_spaces(text, max_splits, from_right));
  const std::string_view separator = parameters.text(1, "");
  if (separator.empty()) fail("empty separator");
  return to_list(context,
                 from_right ? split_at_from_right(text, separator, max_splits) : split_at(text, separator, max_splits));
}

Value split(RenderContext& context, const Arguments& arguments) {
  return split_from(context, arguments, false);
}
Value rsplit(RenderContext& context, const Arguments& arguments) {
  return split_from(context, arguments, true);
}

Value splitlines(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "splitlines", {"self", "keepends"});
  const std::string_view text = *parameters.self().text();
  const bool keeps = parameters.flag(1, false);
  context.charge_bytes(text.size());
  Pieces lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\r\v\f\x1c\x1d\x1e", begin), text.size());
    std::size_t next = std::min(end + 1, text.size());
    if (text.substr(end, 2) == "\r\n") ++next;
    lines.push_back(text.substr(begin, (keeps ? next : end) - begin));
    begin = next;
  }
  return to_list(context, lines);
}

Value partition_from(RenderContext& context, const Arguments& arguments, bool from_right) {
  const Parameters parameters(arguments, "partition", {"self", "sep"}, 2);
  const std::string_view text = *parameters.self().text();
  context.charge_bytes(text.size());
  const std::string_view separator = parameters.text(1, "");
  if (separator.empty()) fail("empty separator");
  const Pieces pieces = from_right ? split_at_from_right(text, separator, 1) : split_at(text, separator, 1);
  if (pieces.size() == 2) return to_list(context, {pieces[0], separator, pieces[1]}, List::Kind::kTuple);
  return to_list(context, from_right ? Pieces{"", "", text} : Pieces{text, "", ""}, List::Kind::kTuple);
}

Value partition(RenderContext& context, const Arguments& arguments) {
  return partition_from(context, arguments, false);
}
Value rpartition(RenderContext& context, const Arguments& arguments) {
  return partition_from(context, arguments, true);
}

constexpr std::array kSplitMethods = {
    Builtin{"split", split},         Builtin{"rsplit", rsplit},         Builtin{"splitlines", splitlines},
    Builtin{"partition", partition}, Builtin{"rpartition", rpartition},
};

}  // namespace

std::span<const Builtin> text_split_methods() {
  return kSplitMethods;
}

}  // namespace trireme::chat::jinja
