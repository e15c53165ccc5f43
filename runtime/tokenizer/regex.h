// Regex: a compiled regular expression (PCRE2 with just-in-time compilation) with the meaning that tokenizers give it:
// the text is UTF-8, and classes follow Unicode. Matching takes bounded memory, and at
// most about 32 KiB of the thread's stack.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trireme::tokenizer {

struct Match {
  std::size_t begin = 0;  // [begin, end) in the subject
  std::size_t end = 0;
};

class Regex {
 public:
  // Error: what PCRE2 says on a pattern that it cannot compile, or one that means something else there than in
  // Oniguruma, for which tokenizer.json files are written.
  static base::Result<Regex> compile(std::string_view pattern);
  // A pattern of our own, written for PCRE2.
  static base::Result<Regex> compile_native(std::string_view pattern);
  // Matches `text` itself.
  static base::Result<Regex> literal(std::string_view text);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // One thread's buffers for matching.
  class Matcher {
   public:
    explicit Matcher(const Regex& regex);
    Matcher(Matcher&&) noexcept;
    ~Matcher();

    // Appends the matches in `subject`, valid UTF-8, from left to right; empty ones are left out.
    // Error: the pattern backtracks too much on this text.
    base::Status find_all(std::string_view subject, std::vector<Match>& matches);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  static base::Result<Regex> compile_with(std::string_view pattern, std::uint32_t options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::tokenizer
