#include "runtime/engine/agreement.h"

#include <exception>
#include <map>
#include <new>

namespace trireme::engine {
namespace {

// {0,1,2,5} → "ranks 0-2,5"; one rank: "rank 5".
std::string rank_list(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (begin == 0 ? "" : ",") + std::to_string(ranks[begin]);
    if (end - begin > 1) text += "-" + std::to_string(ranks[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace

base::Status attempt(const std::function<base::Status()>& part) {
  try {
    return part();
  } catch (const std::bad_alloc&) {
    return base::resource_exhausted("out of memory; use more ranks, smaller weights, or a smaller --kv-memory");
  } catch (const std::exception& exception) {
    return base::invalid_argument(exception.what());
  }
}

base::Status agree(parallel::Communicator& communicator, const base::Status& mine) {
  // A byte with the code, then the message; empty where all is well.
  const std::string message = mine.ok() ? "" : static_cast<char>(mine.error().code) + mine.error().message;
  const auto all = communicator.all_gather(std::as_bytes(std::span(message)));
  std::map<std::string, std::vector<int>> errors;
  std::vector<std::string> order;
  base::ErrorCode code{};  // of the lowest rank that failed
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string text(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
    if (text.empty()) continue;
    if (order.empty()) code = static_cast<base::ErrorCode>(text.front());
    if (errors[text].empty()) order.push_back(text);
    errors[text].push_back(static_cast<int>(rank));
  }
  if (order.empty()) return base::ok_status();
  std::string combined;
  for (const std::string& text : order) {
    combined += combined.empty() ? "" : "; ";
    if (communicator.size() > 1) combined += rank_list(errors[text]) + ": ";
    combined += text.substr(1);
  }
  return base::Error{code, combined};
}

}  // namespace trireme::engine
