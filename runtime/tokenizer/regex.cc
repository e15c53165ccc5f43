#include "runtime/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <utility>

#include "runtime/tokenizer/regex_dialect.h"

namespace trireme::tokenizer {
namespace {

constexpr std::size_t kJitStackStart = 64 << 10;
constexpr std::size_t kJitStackLimit = 16 << 20;
constexpr std::uint32_t kHeapLimitKib = 64 << 10;   // without just-in-time compilation
constexpr std::uint32_t kMatchLimit = 100'000'000;  // steps of one match; ordinary patterns need a few per character

template <typename T, void (*kFree)(T*)>
struct Free {
  void operator()(T* object) const { kFree(object); }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code, pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data, pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context, pcre2_match_context_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Free<pcre2_jit_stack, pcre2_jit_stack_free>>;

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Regex::Impl {
  Code code;
};

base::Result<Regex> Regex::compile(std::string_view pattern) {
  base::Result<std::string> translated = from_oniguruma(pattern);
  if (!translated) return translated.error();
  // Oniguruma's ^ and $ are at line ends too.
  return compile_with(*translated, PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE);
}

base::Result<Regex> Regex::compile_native(std::string_view pattern) {
  return compile_with(pattern, PCRE2_UTF | PCRE2_UCP);
}

base::Result<Regex> Regex::literal(std::string_view text) {
  return compile_with(text, PCRE2_UTF | PCRE2_LITERAL);
}

base::Result<Regex> Regex::compile_with(std::string_view pattern, std::uint32_t options) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &error, &offset, nullptr));
  if (code == nullptr) {
    return base::unsupported("regular expression \"" + std::string(pattern) + "\": " + error_text(error) +
                             " at offset " + std::to_string(offset));
  }
  // Failure leaves the interpreter, which gives the same matches.
  static_cast<void>(pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE));
  return Regex(std::make_unique<Impl>(Impl{std::move(code)}));
}

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

struct Regex::Matcher::Impl {
  // Few patterns need more than the 32 KiB of the thread's stack that PCRE2 starts with. False: it is grown already.
  bool grow_stack() {
    if (stack != nullptr) return false;
    stack.reset(pcre2_jit_stack_create(kJitStackStart, kJitStackLimit, nullptr));
    if (stack == nullptr) return false;
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    return true;
  }

  const pcre2_code* code;
  // The context refers to the stack: it is destroyed first.
  JitStack stack;
  MatchContext context;
  MatchData data;
};

Regex::Matcher::Matcher(const Regex& regex)
    : impl_(std::make_unique<Impl>(
          Impl{regex.impl_->code.get(), nullptr, MatchContext(pcre2_match_context_create(nullptr)),
               MatchData(pcre2_match_data_create_from_pattern(regex.impl_->code.get(), nullptr))})) {
  if (impl_->context == nullptr || impl_->data == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(impl_->context.get(), kMatchLimit);
  pcre2_set_heap_limit(impl_->context.get(), kHeapLimitKib);
}
Regex::Matcher::Matcher(Matcher&&) noexcept = default;
Regex::Matcher::~Matcher() = default;

base::Status Regex::Matcher::find_all(std::string_view subject, std::vector<Match>& matches) {
  const auto* text = reinterpret_cast<PCRE2_SPTR>(subject.data());
  std::uint32_t options = PCRE2_NO_UTF_CHECK;
  for (std::size_t offset = 0; offset < subject.size();) {
    const int code =
        pcre2_match(impl_->code, text, subject.size(), offset, options, impl_->data.get(), impl_->context.get());
    if (code == PCRE2_ERROR_NOMATCH) break;
    if (code == PCRE2_ERROR_JIT_STACKLIMIT && impl_->grow_stack()) continue;
    if (code < 0) {
      return base::invalid_argument("the tokenizer's regular expression fails on this text at byte " +
                                    std::to_string(offset) + ": " + error_text(code));
    }
    const PCRE2_SIZE* extent = pcre2_get_ovector_pointer(impl_->data.get());
    if (extent[0] < offset || extent[1] < extent[0]) {  // \K may do that in a lookahead
      return base::unsupported("the tokenizer's regular expression matches backwards");
    }
    offset = extent[1];
    if (extent[0] < extent[1]) {
      matches.push_back({extent[0], extent[1]});
      options = PCRE2_NO_UTF_CHECK;
    } else {
      options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY_ATSTART;  // go on from here without matching nothing again
    }
  }
  return base::ok_status();
}

}  // namespace trireme::tokenizer
