// Rows of a batch job's output: one line of JSON per line of input, in the form of that line. A row begins with the
// number of its line, so that a job that starts again can tell quickly what is done:
//   {"line":17,"id":"a", …}            plain
//   {"id":"batch_req_17", …}           OpenAI's
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/batch/batch_line.h"
#include "runtime/engine/generation.h"
#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/request.h"

namespace trireme::launch {

// What the rows of one job share.
struct RowContext {
  std::string model;         // where the request names none
  std::int64_t created = 0;  // of the job: seconds since 1970
  const tokenizer::Tokenizer& tokenizer;
};

// False: a choice ended because its logits were NaN or infinite, so that there is no result.
bool all_finite(const std::vector<engine::Generation>& choices);

// Both without the newline. Logits that were not finite make an error row.
std::string result_row(const RowContext& context, const RowIdentity& identity, const scheduler::Request& request,
                       const std::vector<engine::Generation>& choices);
std::string error_row(const RowIdentity& identity, const RequestError& error);

// The line that a row answers, by its first bytes; nothing if it is no row.
std::optional<std::uint64_t> line_of_row(std::string_view row);
// Whether all of it is there: valid JSON.
bool is_whole_row(std::string_view row);
// Whether it tells of an error.
bool is_error_row(std::string_view row);

}  // namespace trireme::launch
