#include "data/array_file.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/class_selection.h"
#include "data/image_array.h"
#include "data/input_file.h"
#include "data/memory_bytes.h"
#include "data/npy_header.h"
#include "data/npz_archive.h"

namespace acgan {
namespace {

class ArrayFile : public ClassImages {
 public:
  std::int64_t channels() const override { return array_.channels; }
  std::int64_t known_count(const ImageRequest& request) const override {
    return limited(array_.count, request.limit);
  }
  bool is_resized(const ImageRequest& request) const override {
    return array_.height != request.side || array_.width != request.side;
  }

 protected:
  ImageArray array_;
};

void refuse_only_recognized(const std::string& path, const ImageRequest& request) {
  if (!request.only_recognized) return;
  fail(
      ErrorKind::Data,
      "'{}' holds images, which do not say whether the drawing was recognized: use .ndjson or .bin "
      "files of strokes, or set data.only_recognized to false",
      path);
}

class NpyFile final : public ArrayFile {
 public:
  explicit NpyFile(const std::string& path) : file_(path) {
    array_ = check_image_array(file_, read_npy_header(file_));
  }

  void append_to(std::vector<std::uint8_t>& images, const ImageRequest& request) const override {
    refuse_only_recognized(file_.path(), request);
    append_array_images(file_, array_, request, images);
  }

 private:
  InputFile file_;
};

std::string listed(const std::vector<NpzMember>& members) {
  constexpr std::size_t kListed = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(members.size(), kListed); ++i) {
    const NpzMember& member = members[i];
    list += fmt::format("{}'{}' ({} {})", i == 0 ? "" : ", ", member.name,
                        member.header.dtype.substr(0, 20), format_shape(member.header.shape));
  }
  if (members.size() > kListed) list += fmt::format(" and {} more", members.size() - kListed);
  return list;
}

[[noreturn]] void fail_without_images(const std::string& path,
                                      const std::vector<NpzMember>& members) {
  if (members.empty()) fail(ErrorKind::Data, "'{}' holds no arrays", path);
  const bool has_objects = std::any_of(members.begin(), members.end(), [](const auto& member) {
    return member.header.dtype.find('O') != std::string::npos;
  });
  if (has_objects) {
    fail(ErrorKind::Data,
         "'{}' holds pickled objects (the strokes that sketch-rnn trains on), which are never "
         "unpickled: use the class's .ndjson or .npy file instead; it has {}",
         path, listed(members));
  }
  if (members.size() == 1) {
    fail(ErrorKind::Data, "'{}', array '{}', {}", path, members[0].name,
         find_image_fault(members[0].header));
  }
  fail(
      ErrorKind::Data,
      "'{}' holds no array of images, which is uint8 of shape (N, 784), (N, H, W) or (N, H, W, C): "
      "it has {}",
      path, listed(members));
}

NpzMember choose_member(const std::string& path) {
  const std::vector<NpzMember> members = list_npz(path);
  std::vector<NpzMember> images;
  std::copy_if(members.begin(), members.end(), std::back_inserter(images),
               [](const NpzMember& member) { return find_image_fault(member.header).empty(); });
  if (images.empty()) fail_without_images(path, members);
  if (images.size() == 1) return images.front();
  const auto train = std::find_if(images.begin(), images.end(),
                                  [](const NpzMember& member) { return member.name == "train"; });
  if (train != images.end()) return *train;
  fail(ErrorKind::Data,
       "'{}' holds several arrays of images, and none is named 'train', which would be taken: "
       "leave one in it; it has {}",
       path, listed(images));
}

class NpzFile final : public ArrayFile {
 public:
  explicit NpzFile(const std::string& path) : path_(path), member_(choose_member(path)) {
    array_ = check_image_array(source_with({}), member_.header);
  }

  void append_to(std::vector<std::uint8_t>& images, const ImageRequest& request) const override {
    refuse_only_recognized(path_, request);
    // In Fortran order the first images are spread over the whole array.
    const auto wanted =
        array_.order == NpyOrder::C
            ? array_.data_offset + static_cast<std::uint64_t>(limited(array_.count, request.limit) *
                                                              array_.image_bytes())
            : member_.size;
    std::vector<std::uint8_t> begin = read_npz_member(path_, member_, wanted);
    if (begin.size() < wanted) {  // before memory is taken for what is not there
      fail(ErrorKind::Data, "'{}', array '{}', is truncated: {} bytes of {} are there", path_,
           member_.name, begin.size(), wanted);
    }
    const MemoryBytes source = source_with(std::move(begin));
    append_array_images(source, array_, request, images);
  }

 private:
  MemoryBytes source_with(std::vector<std::uint8_t> begin) const {
    return {fmt::format("{}: {}", path_, member_.name), member_.size, std::move(begin)};
  }

  std::string path_;
  NpzMember member_;
};

}  // namespace

std::unique_ptr<ClassImages> open_npy_file(const std::string& path) {
  return std::make_unique<NpyFile>(path);
}

std::unique_ptr<ClassImages> open_npz_file(const std::string& path) {
  return std::make_unique<NpzFile>(path);
}

}  // namespace acgan
