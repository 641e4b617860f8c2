#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_source.h"
#include "data/class_images.h"
#include "data/npy_header.h"

namespace acgan {

// An array of images: uint8 of shape (N,784), which is (N,28,28), or (N,H,W) or (N,H,W,C) with 1 or
// 3 channels. Values are 0..255.
struct ImageArray {
  std::int64_t count = 0, height = 0, width = 0, channels = 0;
  NpyOrder order = NpyOrder::C;
  bool is_flat = false;           // the pixels of an image are one axis
  std::uint64_t data_offset = 0;  // bytes before the first element

  std::int64_t image_bytes() const { return height * width * channels; }
};

// Why the array holds no images and what to do ("has elements of type '<f4' ..."); empty where
// it does.
std::string find_image_fault(const NpyHeader& header);

// Throws Error{Data} where the array holds no images or not as many bytes as it promises.
ImageArray check_image_array(const ByteSource& source, const NpyHeader& header);

// Adds the images wanted to `images`, one block at a time: cut to a centred square, resized and
// with the channels asked for. `source` needs to hold no more than those.
void append_array_images(const ByteSource& source, const ImageArray& array,
                         const ImageRequest& request, std::vector<std::uint8_t>& images);

}  // namespace acgan
