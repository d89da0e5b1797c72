// SHA-256 (FIPS 180-4), for digests for which nobody can construct a collision.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace lbm::run_time {

/// The digest as 64 hexadecimal digits.
inline std::string sha256(std::string text) {
    // Fractional parts of the cube roots of the first 64 primes, section 4.2.2.
    static constexpr std::array<std::uint32_t, 64> K = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    // Fractional parts of the square roots of the first 8 primes, section 5.3.3.
    std::array<std::uint32_t, 8> H = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    // Section 5.1.1: a one bit, zeros, and the length in bits as the last 8 of a multiple of 64 bytes.
    const std::uint64_t bits = 8 * std::uint64_t(text.size());
    text += '\x80';
    text.resize((text.size() + 8 + 63) / 64 * 64, '\0');
    for (std::size_t k = 0; k < 8; ++k) {
        text[text.size() - 1 - k] = char(bits >> (8 * k));
    }
    const auto byte = [&](std::size_t at) { return std::uint32_t(static_cast<unsigned char>(text[at])); };
    for (std::size_t start = 0; start < text.size(); start += 64) {  // section 6.2.2
        std::array<std::uint32_t, 64> W{};
        for (std::size_t t = 0; t < 16; ++t) {
            const std::size_t at = start + 4 * t;
            W[t] = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
        }
        for (std::size_t t = 16; t < 64; ++t) {
            const std::uint32_t a = W[t - 15], b = W[t - 2];
            W[t] = W[t - 16] + W[t - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
                   (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
        }
        auto [a, b, c, d, e, f, g, h] = H;
        for (std::size_t t = 0; t < 64; ++t) {
            const std::uint32_t T1 =
                h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + W[t];
            const std::uint32_t T2 =
                (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + T1;
            d = c;
            c = b;
            b = a;
            a = T1 + T2;
        }
        const std::array<std::uint32_t, 8> change = {a, b, c, d, e, f, g, h};
        for (std::size_t k = 0; k < 8; ++k) {
            H[k] += change[k];
        }
    }
    std::string digits;
    for (const std::uint32_t word : H) {
        for (int shift = 28; shift >= 0; shift -= 4) {
            digits += "0123456789abcdef"[word >> shift & 15];
        }
    }
    return digits;
}

}  // namespace lbm::run_time
