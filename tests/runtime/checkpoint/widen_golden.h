// Stored blocks and what the Python package gguf 0.19.0 makes of them, generated once: random bytes (numpy's
// default_rng(7)) whose float16 factors were then replaced by normal draws of deviation 0.05 and, in the second block
// of 32, by a subnormal; for F16 and BF16 the first six values are zeros, subnormals and infinities. The expected
// values are gguf.dequantize(bytes, type), for F16 numpy's own conversion.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/checkpoint/checkpoint.h"

namespace trireme::checkpoint {

struct GoldenBlocks {
  TensorType type;
  std::int64_t count;         // of elements
  std::uint32_t crc32;        // zlib's, of all the expected float32 values, little-endian
  std::int64_t sample_index;  // one of them, to read in a message
  float sample;
  std::string_view hex;  // the stored bytes
};

inline constexpr GoldenBlocks kGoldenBlocks[] = {
    {TensorType::kF16, 16, 0xba3cab22u, 8, -0x1.5880000000000p-1f,
     "000000800100ff83007c00fcbc8dafa562b90a945f16938642276a95ab2da739"},
    {TensorType::kBF16, 16, 0x6d5527f0u, 8, -0x1.e000000000000p-39f,
     "0000008001007f80807f80ffd732a19f70aca1a926115901dd06f23f8f063c92"},
    {TensorType::kQ8_0, 64, 0x7acb7bbbu, 32, -0x1.19e8000000000p-11f,
     "dca5a621f9bd0ccc21397c1ec795ca7748dc03d17a88934d85527357a2e64647f03e23811f223f4192c58efd5185f071"
     "1ef7677a1f132a818d882195a100b28d6b236b82"},
    {TensorType::kQ4_0, 64, 0x2f94ead2u, 32, 0x1.fd40000000000p-14f,
     "f222d9fe6e794d57037e2cfde9e15a778978238121a557d8e5a703296dcb81db3f65cf9c"},
    {TensorType::kQ4_1, 64, 0xd5dbdfbdu, 32, -0x1.4b64600000000p-5f,
     "e5ac1ea6f4c0cf83fe4363f82f4759778955f6ce23812da97179ced2c8f814a13472ff70ce369d83"},
    {TensorType::kQ5_0, 64, 0x48fcfb61u, 32, -0x1.d8e0000000000p-13f,
     "a81dc0e156f65a3322e791b880ee995e3f0d307d2fba2381693a179e0d027ed4e58be7a9ebc28a271d43a788"},
    {TensorType::kQ5_1, 64, 0xdf9b6192u, 32, -0x1.ee84a00000000p-5f,
     "1ba8672e869793f0aad6ded8116e3ab51681c4a374fec70a2381adabc92b387987416c17ec90963ec766888ab4b80eba"},
    {TensorType::kQ4_K, 256, 0x0a63e8ebu, 128, 0x1.4510000000000p+1f,
     "242860ae180600a974d63b6332202c998e82b2522c49c4394c7d73265b6aaf61b288fbd0aecfa766616223611e764c93"
     "aa388ffabd0a6a6412b209971e2d827076f7e49ab8fa197271be53a3442b128cdad72bad0f8aeef42a0b9a26d74fc78f"
     "2562b8701097a55b5510543d27ed600de3200a6749307fd37899c118819af6674394c3f7aa5f93f32c810a37ca7bf101"},
    {TensorType::kQ5_K, 256, 0x257ed84bu, 128, -0x1.76a0600000000p+0f,
     "6c8c78278375c517b4e786a9aadf7488f892b12191387ad86aca56d8531c927b931fe8f16e795b9b331767e712dbe8f5"
     "331dd9917f01e64710dd3c25f4d21690a049453135550ec0193a8bed1783d53ec944658d1d28960c44b0382e93438e60"
     "788d51e279a131f8130b3ea4bd2f5d95e57bd791436d840f4e6654608135bbfb885d346959a49b36402a4f3dcc489fb6"
     "511fbe09e5d72bf834e04fe028ca4991e02abd77279fedc206d2318ca8b8287a"},
    {TensorType::kQ6_K, 256, 0x6eb984b8u, 128, -0x1.1157000000000p+2f,
     "6f4b795260f56bb8b588475f7066c1cd7109c5079a933ee857db751ff223726ad90697f749f7c61bd80163a8c9a356ba"
     "91d79f6d24ee3a14ebd41386d8faef6e9e6c70df41dba9aeb5301e5824b7db0e504f1d970686934768f005af0d5a23dd"
     "b465fc5a489b43e76ea3e384969be487a440e7c3ea5204cabbf9bfe8e648caff7704ac26d227a069c392f4eeb361c24e"
     "f366530178b479933822c3c0cf6b3cbeb4af7ecff21cd3a408f80223e393ddd808453d6bad90efd8aba2b4d096226df8"
     "d446a703fcb2bdddd8e1e2a09a633f7c139e"},
};

}  // namespace trireme::checkpoint
