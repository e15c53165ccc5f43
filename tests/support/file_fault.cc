// A library to preload (LD_PRELOAD) into a program under test: its N-th call that changes a file whose path begins with
// a given prefix fails, or is the last thing that the process does. A write that is hit writes half of its bytes first.
//
//   FILE_FAULT_PREFIX  path of the files that count     FILE_FAULT_AT  N, from 1
//   FILE_FAULT         kill, or the number of an errno; from then on, that call and all later writes fail with it
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Fault { kNone, kKill, kErrno };

struct Settings {
  std::string prefix;
  long at = 0;
  bool kills = false;
  int code = 0;

  Settings() {
    const char* values[] = {std::getenv("FILE_FAULT_PREFIX"), std::getenv("FILE_FAULT_AT"), std::getenv("FILE_FAULT")};
    for (const char* value : values) {
      if (value == nullptr) return;
    }
    prefix = values[0];
    at = std::atol(values[1]);
    kills = std::string(values[2]) == "kill";
    code = std::atoi(values[2]);
  }
};

Fault next_fault(const char* path) {
  static const Settings settings;
  static std::atomic<long> count{0};
  if (settings.prefix.empty() || path == nullptr) return Fault::kNone;
  if (std::strncmp(path, settings.prefix.c_str(), settings.prefix.size()) != 0) return Fault::kNone;
  const long number = ++count;
  if (settings.kills) return number == settings.at ? Fault::kKill : Fault::kNone;
  if (number < settings.at) return Fault::kNone;
  errno = settings.code;
  return Fault::kErrno;
}

Fault next_fault(int descriptor) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path - 1);
  if (length < 0) return Fault::kNone;
  path[length] = '\0';
  return next_fault(path);
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// True: the call fails, errno is set.
bool fails(Fault fault) {
  if (fault == Fault::kKill) die();
  return fault == Fault::kErrno;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  const Fault fault = next_fault(descriptor);
  if (fault == Fault::kNone) return real(descriptor, bytes, count);
  const int code = errno;
  if (real(descriptor, bytes, count / 2) < 0) std::abort();
  errno = code;
  fails(fault);
  return -1;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const Fault fault = next_fault(descriptor);
  if (fault == Fault::kNone) return real(descriptor, bytes, count, offset);
  const int code = errno;
  if (real(descriptor, bytes, count / 2, offset) < 0) std::abort();
  errno = code;
  fails(fault);
  return -1;
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return fails(next_fault(descriptor)) ? -1 : real(descriptor);
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(next_fault(descriptor)) ? -1 : real(descriptor);
}

int ftruncate(int descriptor, off_t size) noexcept {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return fails(next_fault(descriptor)) ? -1 : real(descriptor, size);
}

int ftruncate64(int descriptor, off_t size) noexcept {
  return ftruncate(descriptor, size);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return fails(next_fault(from)) ? -1 : real(from, to);
}

int unlink(const char* path) noexcept {
  static const auto real = next<int (*)(const char*)>("unlink");
  return fails(next_fault(path)) ? -1 : real(path);
}

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, mode_t)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_ACCMODE) != O_RDONLY && fails(next_fault(path))) return -1;
  return real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}
}
