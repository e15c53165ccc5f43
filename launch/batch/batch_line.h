// BatchLine: one line of a batch job's input, understood: whose request it is and what it asks for, or what is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launch/batch/input_scan.h"
#include "launch/batch/line_reader.h"
#include "launch/request_json/parse_request.h"

namespace trireme::launch {

using RowId = std::variant<std::monostate, std::string, std::int64_t>;  // as the line gives it

// What an output row says of the line it answers.
struct RowIdentity {
  std::uint64_t line = 0;  // from 1
  BatchForm form = BatchForm::kPlain;
  RowId id;
  RequestForm request_form = RequestForm::kPlain;
  std::string model;  // as the request names it
};

struct BatchLine {
  RowIdentity identity;
  std::variant<RequestSpec, RequestError> request;
  std::vector<std::string> unknown_fields;
};

// Nothing if the line is no JSON object.
std::optional<BatchForm> form_of_line(const InputLine& line);

// The seed of a line that gives none: depends on the job's seed and the line alone, so that it is the same whenever the
// line is worked on. Below 2^53, so that every JSON reader keeps it.
std::uint64_t seed_of_line(std::uint64_t job_seed, std::uint64_t line);

class BatchLineParser {
 public:
  // `defaults`: of plain lines; their seed is the job's. OpenAI's lines have OpenAI's defaults. `form`: of lines that
  // do not show theirs.
  BatchLineParser(RequestSpec defaults, BatchForm form) : defaults_(std::move(defaults)), form_(form) {}

  BatchLine parse(const InputLine& line) const;

 private:
  const RequestSpec defaults_;
  const BatchForm form_;
};

}  // namespace trireme::launch
