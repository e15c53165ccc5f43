// From the bytes of a batch job's input to its lines.
#include <gtest/gtest.h>

#include "launch/batch/batch_line.h"
#include "launch/batch/id_set.h"
#include "launch/batch/input_scan.h"
#include "launch/batch/line_reader.h"
#include "tests/support/temporary_folder.h"

namespace trireme::launch {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  std::vector<InputLine> read(const std::string& text, std::size_t max_line_bytes = LineReader::kMaxLineBytes) {
    auto reader = LineReader::open(folder_.write("input.jsonl", text).string(), max_line_bytes).value();
    std::vector<InputLine> lines;
    for (InputLine line; reader.next(line).value();) lines.push_back(line);
    return lines;
  }
  static std::vector<std::string> texts(const std::vector<InputLine>& lines) {
    std::vector<std::string> all;
    for (const InputLine& line : lines) all.push_back(line.text);
    return all;
  }
  const test::TemporaryFolder folder_;
};

TEST_F(LineReaderTest, TakesEveryKindOfLineEnd) {
  EXPECT_EQ(texts(read("a\nb\r\n\nlast")), (std::vector<std::string>{"a", "b", "", "last"}));
  EXPECT_EQ(texts(read("a\n")), (std::vector<std::string>{"a"}));
  EXPECT_EQ(texts(read("\xEF\xBB\xBF"
                       "a\n\xEF\xBB\xBF")),
            (std::vector<std::string>{"a", "\xEF\xBB\xBF"}));
  EXPECT_TRUE(read("").empty());
  EXPECT_EQ(read("a\n\nb")[2].number, 3u);
}

TEST_F(LineReaderTest, LinesLongerThanItsBufferAreWhole) {
  const std::string line(3u << 20, 'x');
  EXPECT_EQ(texts(read(line + "\n" + line + "y")), (std::vector<std::string>{line, line + "y"}));
}

TEST_F(LineReaderTest, ALineThatIsTooLongIsPassedOver) {
  const auto lines = read("12345\n123456\nend\n", 5);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FALSE(lines[0].is_too_long);
  EXPECT_TRUE(lines[1].is_too_long);
  EXPECT_EQ(lines[1].text, "");
  EXPECT_EQ(lines[2].text, "end");
}

TEST_F(LineReaderTest, FoldersAndPipesAreRefused) {
  EXPECT_FALSE(LineReader::open(folder_.path().string()).ok());
  EXPECT_FALSE(LineReader::open("/dev/null").ok());
  EXPECT_FALSE(LineReader::open((folder_ / "none").string()).ok());
}

using InputScanTest = LineReaderTest;

TEST_F(InputScanTest, CountsUpToTheLastLineInUse) {
  const auto lines = [&](const char* text) {
    return scan_input(folder_.write("input.jsonl", text).string())->num_lines;
  };
  EXPECT_EQ(lines(""), 0u);
  EXPECT_EQ(lines("\n\r\n  "), 0u);
  EXPECT_EQ(lines("a"), 1u);
  EXPECT_EQ(lines("a\n\nb\r\n\r\n \n"), 3u);
}

TEST_F(InputScanTest, AnyChangeOfTheInputChangesItsFingerprint) {
  const auto scan = [&](const std::string& text) { return *scan_input(folder_.write("input.jsonl", text).string()); };
  const std::string text(5u << 20, 'a');
  std::string other = text;
  other[4u << 20] = 'b';
  EXPECT_EQ(scan(text).fingerprint, scan(text).fingerprint);
  EXPECT_NE(scan(text).fingerprint, scan(other).fingerprint);
}

TEST_F(InputScanTest, TheFirstObjectShowsTheForm) {
  const auto form = [&](const char* text) { return scan_input(folder_.write("input.jsonl", text).string())->form; };
  EXPECT_EQ(form("oops\n{\"custom_id\": \"a\"}\n"), BatchForm::kOpenAi);
  EXPECT_EQ(form("{\"prompt\": \"a\"}\n{\"custom_id\": \"a\"}\n"), BatchForm::kPlain);
  EXPECT_EQ(form(""), BatchForm::kPlain);
}

TEST(IdSet, FindsEveryDuplicateAndNothingElse) {
  IdSet ids;
  for (int i = 0; i < 20000; ++i) EXPECT_TRUE(ids.insert(RowId("id-" + std::to_string(i))));
  for (int i = 0; i < 20000; ++i) EXPECT_FALSE(ids.insert(RowId("id-" + std::to_string(i))));
  EXPECT_TRUE(ids.insert(RowId(std::int64_t{7})));
  EXPECT_TRUE(ids.insert(RowId(std::string("7"))));
  EXPECT_FALSE(ids.insert(RowId(std::int64_t{7})));
  EXPECT_TRUE(ids.insert(RowId()));
  EXPECT_TRUE(ids.insert(RowId()));
}

class BatchLineTest : public testing::Test {
 protected:
  static BatchLine parse(const std::string& text, std::uint64_t number = 1, BatchForm form = BatchForm::kPlain) {
    RequestSpec defaults;
    defaults.max_tokens = 256;
    defaults.sampling.seed = 5;
    return BatchLineParser(defaults, form).parse({number, text, false});
  }
  static std::string wrong_field(const std::string& text) {
    const BatchLine line = parse(text);
    const auto* error = std::get_if<RequestError>(&line.request);
    return error == nullptr ? "accepted" : error->field;
  }
};

TEST_F(BatchLineTest, APlainLineHasTheDefaultsOfTheCommandLine) {
  const BatchLine line = parse(R"({"prompt": "x", "id": "a"})");
  EXPECT_EQ(line.identity.id, RowId(std::string("a")));
  EXPECT_EQ(std::get<RequestSpec>(line.request).max_tokens, 256);
}

TEST_F(BatchLineTest, SeedsDependOnTheJobAndTheLine) {
  const auto seed = [](std::uint64_t number) {
    return std::get<RequestSpec>(parse(R"({"prompt": "x"})", number).request).sampling.seed;
  };
  EXPECT_EQ(seed(1), seed(1));
  EXPECT_NE(seed(1), seed(2));
  EXPECT_LT(seed(1), std::uint64_t{1} << 53);
  EXPECT_NE(seed_of_line(5, 1), seed_of_line(6, 1));
  EXPECT_EQ(std::get<RequestSpec>(parse(R"({"prompt": "x", "seed": 9})").request).sampling.seed, 9u);
}

TEST_F(BatchLineTest, AnOpenAiLineNamesItsEndpoint) {
  const BatchLine line = parse(
      R"({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "x"}]}})");
  EXPECT_EQ(line.identity.form, BatchForm::kOpenAi);
  EXPECT_EQ(line.identity.request_form, RequestForm::kChat);
  EXPECT_EQ(line.identity.model, "m");
  EXPECT_EQ(std::get<RequestSpec>(line.request).sampling.temperature, 1.0f);
}

TEST_F(BatchLineTest, MistakesNameTheirField) {
  EXPECT_EQ(wrong_field(R"({"url": "/v1/completions", "body": {"prompt": "x"}})"), "custom_id");
  EXPECT_EQ(wrong_field(R"({"custom_id": "a", "url": "/v1/embeddings", "body": {}})"), "url");
  EXPECT_EQ(wrong_field(R"({"custom_id": "a", "url": "/v1/completions"})"), "body");
  EXPECT_EQ(wrong_field(R"({"custom_id": "a", "url": "/v1/completions", "body": {"prompt": ["x", "y"]}})"), "prompt");
  EXPECT_EQ(wrong_field(R"({"custom_id": "a", "url": "/v1/completions", "body": {"prompt": "x", "stream": true}})"),
            "stream");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "id": 1.5})"), "id");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "id": ")" + std::string(1 << 20, 'i') + "\"}"), "id");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "max_tokens": 3.9})"), "max_tokens");
}

TEST_F(BatchLineTest, WhatIsNoObjectIsAnErrorOfTheJobsForm) {
  for (const std::string bad : {"", "   ", "nonsense", "[1]", "{\"prompt\": \"x\"} {}", "{\"a\": 1, \"a\": 2}",
                                "{\"prompt\": \"\xff\"}", "{\"prompt\": \"\\ud800\"}"}) {
    const BatchLine line = parse(bad, 3, BatchForm::kOpenAi);
    EXPECT_TRUE(std::holds_alternative<RequestError>(line.request)) << bad;
    EXPECT_EQ(line.identity.line, 3u);
  }
  EXPECT_EQ(parse("nonsense", 3, BatchForm::kOpenAi).identity.form, BatchForm::kOpenAi);
  EXPECT_TRUE(std::holds_alternative<RequestError>(parse(std::string(100000, '[')).request));
}

}  // namespace
}  // namespace trireme::launch
