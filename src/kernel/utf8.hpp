// Whether bytes are well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
#pragma once

#include <cstdint>

#include "hash.hpp"
#include "memory.hpp"

namespace idealrank {

inline bool all_ascii(Bytes text) {
  size_t at = 0;
  uint64_t seen = 0;
  for (; at + 8 <= text.size(); at += 8) seen |= load64(text.data() + at);
  for (; at < text.size(); ++at) seen |= static_cast<unsigned char>(text[at]);
  return !(seen & 0x8080808080808080ull);
}

// The smallest and largest second byte that may follow a first byte, and how many bytes follow in all; 0: it cannot come first.
struct Utf8Lead {
  unsigned char low, high, following;
};

inline Utf8Lead utf8_lead(unsigned char byte) {
  if (byte < 0xc2 || byte > 0xf4) return {0, 0, 0};
  if (byte < 0xe0) return {0x80, 0xbf, 1};
  if (byte < 0xf0) return {static_cast<unsigned char>(byte == 0xe0 ? 0xa0 : 0x80), static_cast<unsigned char>(byte == 0xed ? 0x9f : 0xbf), 2};
  return {static_cast<unsigned char>(byte == 0xf0 ? 0x90 : 0x80), static_cast<unsigned char>(byte == 0xf4 ? 0x8f : 0xbf), 3};
}

inline bool valid_utf8(Bytes text) {
  if (all_ascii(text)) return true;
  for (size_t at = 0; at < text.size();) {
    auto byte = static_cast<unsigned char>(text[at++]);
    if (byte < 0x80) continue;
    Utf8Lead lead = utf8_lead(byte);
    if (!lead.following || text.size() - at < lead.following) return false;
    for (int i = 0; i < lead.following; ++i, ++at) {
      auto next = static_cast<unsigned char>(text[at]);
      if (next < (i ? 0x80 : lead.low) || next > (i ? 0xbf : lead.high)) return false;
    }
  }
  return true;
}

}  // namespace idealrank
