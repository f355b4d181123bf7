// Decimal numbers as people write them in qrels and runs, correctly rounded to double.
#pragma once

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <version>

#include "memory.hpp"

#if !defined(__cpp_lib_to_chars) || __cpp_lib_to_chars < 201611L
#include <cstdlib>
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace idealrank {

// One division is rounded once, and scores compare as they were stored, only where doubles are computed as doubles.
static_assert(FLT_EVAL_METHOD == 0, "idealrank needs double arithmetic without extra precision; on 32-bit x86 compile with -msse2 -mfpmath=sse");

enum class NumberKind { number, nan, invalid };

inline bool is_digit(char byte) { return static_cast<unsigned char>(byte - '0') < 10; }

inline bool equals_lower(const char* begin, const char* end, const char* word) {
  for (; begin < end && *word; ++begin, ++word) {
    char lower = *begin >= 'A' && *begin <= 'Z' ? static_cast<char>(*begin + 32) : *begin;
    if (lower != *word) return false;
  }
  return begin == end && !*word;
}

namespace detail {

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What a decimal looks like: its digits as an integer when there are few, and where the point stands.
struct Decimal {
  uint64_t digits = 0;       // the significant digits, valid while `counted` <= 19
  size_t counted = 0;        // significant digits, leading zeros left out
  long long exponent = 0;    // of ten, for the last digit
  bool valid = false;
};

inline const char* scan_digits(const char* at, const char* end, Decimal& decimal, bool& any) {
  for (; at < end && is_digit(*at); ++at) {
    any = true;
    if (decimal.counted || *at != '0') {
      if (decimal.counted < 19) decimal.digits = decimal.digits * 10 + static_cast<uint64_t>(*at - '0');
      ++decimal.counted;
    }
  }
  return at;
}

inline const char* scan_exponent(const char* at, const char* end, long long& exponent) {
  bool negative = false;
  if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
  if (at == end || !is_digit(*at)) return nullptr;
  for (; at < end && is_digit(*at); ++at) {
    if (exponent < 1'000'000'000'000) exponent = exponent * 10 + (*at - '0');
  }
  if (negative) exponent = -exponent;
  return at;
}

inline Decimal scan_decimal(const char* begin, const char* end) {
  Decimal decimal;
  bool any = false;
  const char* at = scan_digits(begin, end, decimal, any);
  if (at < end && *at == '.') {
    const char* fraction = ++at;
    at = scan_digits(at, end, decimal, any);
    decimal.exponent = -static_cast<long long>(at - fraction);
  }
  if (!any) return decimal;
  if (at < end && (*at == 'e' || *at == 'E')) {
    long long written = 0;
    at = scan_exponent(at + 1, end, written);
    decimal.exponent += written;
  }
  decimal.valid = at == end;
  return decimal;
}

#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
inline bool convert(const char* begin, const char* end, double& value) {
  auto result = std::from_chars(begin, end, value);
  return result.ec == std::errc() && result.ptr == end;
}
#else
// strtod under the "C" locale: the user's decimal comma must not change a grade.
inline bool convert(const char* begin, const char* end, double& value) {
  std::string text(begin, end);
#if defined(_WIN32)
  static const _locale_t plain = _create_locale(LC_ALL, "C");
  value = _strtod_l(text.c_str(), nullptr, plain);
#else
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  value = strtod_l(text.c_str(), nullptr, plain);
#endif
  return true;
}
#endif

// The text may change while it is read, and the library need not expect that: it gets a copy. A number that is none by now is refused,
// above all NaN, which would break every order.
inline bool convert_copy(const char* begin, const char* end, double& value) {
  char copy[64];
  const auto size = static_cast<size_t>(end - begin);
  if (size <= sizeof copy) {
    std::memcpy(copy, begin, size);
    return convert(copy, copy + size, value) && !std::isnan(value);
  }
  const std::string longer(begin, end);
  return convert(longer.data(), longer.data() + size, value) && !std::isnan(value);
}

inline double magnitude(const char* begin, const char* end, const Decimal& decimal) {
  if (decimal.counted == 0) return 0.0;
  // Both operands are exact doubles, so the one division or multiplication rounds once: the nearest double.
  if (decimal.counted <= 19 && decimal.digits <= (1ull << 53) && decimal.exponent >= -22 && decimal.exponent <= 22) {
    double digits = static_cast<double>(decimal.digits);
    return decimal.exponent < 0 ? digits / powers_of_ten[-decimal.exponent] : digits * powers_of_ten[decimal.exponent];
  }
  // from_chars reports numbers beyond the range without saying on which side they are.
  long long top = decimal.exponent + static_cast<long long>(decimal.counted);
  if (top > 310) return std::numeric_limits<double>::infinity();
  if (top < -330) return 0.0;
  double value = 0.0;
  if (convert_copy(begin, end, value)) return value;
  return top > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace detail

// Sign, digits with an optional point anywhere, exponent; inf, infinity and nan in any case. No hexadecimal, no underscores.
inline NumberKind parse_number(const char* begin, const char* end, double& value) {
  bool negative = false;
  if (begin < end && (*begin == '+' || *begin == '-')) negative = *begin++ == '-';
  detail::Decimal decimal = detail::scan_decimal(begin, end);
  if (decimal.valid) {
    double size = detail::magnitude(begin, end, decimal);
    value = negative ? -size : size;
    return NumberKind::number;
  }
  if (equals_lower(begin, end, "inf") || equals_lower(begin, end, "infinity")) {
    value = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return NumberKind::number;
  }
  return equals_lower(begin, end, "nan") ? NumberKind::nan : NumberKind::invalid;
}

}  // namespace idealrank
