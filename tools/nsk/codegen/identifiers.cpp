// SPDX-License-Identifier: MIT
#include "codegen/identifiers.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "errors.hpp"
#include "graph/names.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_length = 60;
// clang-format off
constexpr std::string_view keywords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short", "signed",
    "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw",
    "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq"};
/// Of the headers of C, POSIX, Windows, Qt and curses, and of compilers; those of capitals alone are known as such.
constexpr std::string_view macros[] = {
    "Bool", "Complex", "I", "L_ctermid", "L_cuserid", "L_tmpnam", "Status", "P_tmpdir", "alloca", "assert",
    "assert_perror", "be16toh", "be32toh", "be64toh", "cdecl", "check", "complex", "emit", "environ", "erase", "errno",
    "exception_code", "exception_info", "far", "foreach", "forever", "h_addr", "h_errno", "htobe16", "htobe32",
    "htobe64", "htole16", "htole32", "htole64", "huge", "hyper", "i386", "imaginary", "interface", "isascii",
    "isfinite", "isgreater", "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater", "isnan", "isnormal",
    "issubnormal", "isunordered", "le16toh", "le32toh", "le64toh", "linux", "major", "makedev", "math_errhandling",
    "max", "midl_user_allocate", "midl_user_free", "min", "minor", "move", "near", "offsetof", "onexit_t", "pascal",
    "require", "s_addr", "s_host", "s_imp", "s_impno", "s_lh", "s_net", "sa_handler", "sa_sigaction", "sched_priority",
    "setjmp", "sigmask", "signals", "signbit", "sigsetjmp", "slots", "small", "st_atime", "st_ctime", "st_mtime",
    "stderr", "stdin", "stdout", "strcasecmp", "strdupa", "strncasecmp", "strndupa", "sys_errlist", "sys_nerr", "unix",
    "va_arg", "va_copy", "va_end", "va_start", "verify"};
/// What names of other macros begin with.
constexpr std::string_view macro_beginnings[] = {"AF_", "M_", "PF_", "PRI", "SCN", "s6_", "si_", "sigev_"};
/// What a generated class needs where its ports are declared.
constexpr std::string_view own_names[] = {"inputs", "nsk", "outputs", "states", "std"};
/// Functions and variables of the C library and of POSIX whose names a model may have too.
constexpr std::string_view functions[] = {
    "abort", "abs", "accept", "access", "acos", "acosh", "alarm", "asin", "asinh", "atan", "atan2", "atanh", "atexit",
    "bind", "bsearch", "calloc", "canonicalize", "carg", "cbrt", "ceil", "clock", "clone", "close", "conj", "connect",
    "copysign", "cos", "cosh", "crypt", "daemon", "daylight", "difftime", "div", "dup", "erf", "erfc", "exit", "exp",
    "exp10", "exp2", "expm1", "fabs", "fdim", "finite", "flock", "floor", "fma", "fmax", "fmin", "fmod", "fork", "free",
    "frexp", "gamma", "hypot", "index", "ioctl", "j0", "j1", "jn", "kill", "ldexp", "lgamma", "link", "listen", "log",
    "log10", "log1p", "log2", "logb", "main", "malloc", "mknod", "mmap", "modf", "nan", "nice", "open", "optarg",
    "optind", "optopt", "pause", "pipe", "poll", "pow", "printf", "putc", "puts", "qsort", "raise", "rand", "random",
    "read", "realloc", "recv", "remainder", "remove", "rename", "rewind", "rindex", "rint", "round", "scanf", "select",
    "send", "shutdown", "signal", "significand", "sin", "sinh", "sleep", "socket", "sqrt", "stat", "stime", "swab",
    "sync", "system", "tan", "tanh", "tgamma", "time", "timezone", "trunc", "truncate", "umask", "ungetc", "unlink",
    "utime", "vfork", "wait", "write", "y0", "y1", "yn"};
// clang-format on

template <std::size_t Count>
bool has(const std::string_view (&list)[Count], std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

/// Whether macros are named so: EOF, M_PIf, PRId64. One capital alone is a name of many models.
bool is_macro_like(std::string_view text) {
  const bool capitals = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const bool begins = std::any_of(std::begin(macro_beginnings), std::end(macro_beginnings),
                                  [&](std::string_view b) { return text.substr(0, b.size()) == b; });
  return (capitals && text.size() > 1) || begins;
}

bool is_taken(std::string_view text) {
  return has(keywords, text) || has(macros, text) || has(own_names, text) || is_macro_like(text);
}

}

std::string identifier_of(const std::string& name, const char* fallback) {
  const std::string text = plain_identifier(name, max_length);
  if (text.empty()) return fallback;
  return begins_with_digit(text) || is_taken(text) ? fallback + ("_" + text) : text;
}

std::string namespace_of(const std::string& name, const char* fallback) {
  const std::string text = identifier_of(name, fallback);
  return has(functions, text) ? fallback + ("_" + text) : text;
}

std::string comment_text(const std::string& name) {
  std::string text;
  for (const char c : utf8_text(printable(name))) {
    const bool trigraph = c == '?' && !text.empty() && text.back() == '?';
    text += c == '\\' ? '/' : trigraph ? '.' : c;
  }
  // Of the general punctuation, U+2000 to U+206F, some reverse what follows.
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '\xe2' && (text[i + 1] == '\x80' || text[i + 1] == '\x81')) text.replace(i, 3, "-");
  return text;
}

}
