#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/cpu/gemm_source.h"
#include "backend/cpu/vector_load.h"

namespace acgan::gemm {

inline constexpr std::int64_t kRun = 4;  // floats that GroupedRow::copy_run moves

// One row of a GroupedPlace whose groups have Group elements, or (Group = 0) are all one run.
// Positions count from the start of the block.
template <int Group>
class GroupedRow {
 public:
  GroupedRow(float* data, std::int64_t group_stride) : data_(data), group_stride_(group_stride) {}

  template <typename T>
  void copy(std::int64_t begin, std::int64_t end, const T* source) const {
    spread(begin, end, [&](float* to, std::int64_t at, auto lanes) {
      cpu::store(to, cpu::load(source + (at - begin), lanes), lanes);
    });
  }

  void zero(std::int64_t begin, std::int64_t end) const {
    spread(begin, end,
           [](float* to, std::int64_t, auto lanes) { cpu::store(to, cpu::Float8{}, lanes); });
  }

  // kRun floats; `at` is a multiple of kRun.
  void copy_run(std::int64_t at, const float* source) const {
    std::memcpy(place(at), source, kRun * sizeof(float));
  }

 private:
  // Calls move(place, at, lanes) for eight neighbouring positions or one at a time.
  template <typename Move>
  void spread(std::int64_t begin, std::int64_t end, const Move& move) const {
    std::int64_t at = begin;
    for (; at < end && at % cpu::kLanes != 0; ++at) move(place(at), at, cpu::SomeLanes{1});
    if constexpr (Group > 0) {
      for (; at + cpu::kLanes <= end && at % Group != 0; at += cpu::kLanes) {
        move(place(at), at, cpu::AllLanes{});
      }
      for (float* group = place(at); at + Group <= end; at += Group, group += group_stride_) {
        for (int i = 0; i < Group; i += cpu::kLanes) move(group + i, at + i, cpu::AllLanes{});
      }
    }
    for (; at + cpu::kLanes <= end; at += cpu::kLanes) move(place(at), at, cpu::AllLanes{});
    for (; at < end; ++at) move(place(at), at, cpu::SomeLanes{1});
  }

  float* place(std::int64_t at) const {
    if constexpr (Group == 0) return data_ + at;
    if constexpr (Group > 0) return data_ + at / Group * group_stride_ + at % Group;
  }

  float* data_;
  std::int64_t group_stride_;
};

// Calls body(row, GroupedRow) for every row of a block, with the group's size compiled in.
template <typename Body>
void for_each_row(const Block& block, const GroupedPlace& place, const Body& body) {
  const auto visit = [&]<int Group>(std::integral_constant<int, Group>) {
    float* data = place.data;
    for (std::int64_t row = 0; row < block.rows; ++row, data += place.row_stride) {
      body(row, GroupedRow<Group>(data, place.group_stride));
    }
  };
  switch (place.grouping) {
    case Grouping::Vector:
      return visit(std::integral_constant<int, kWidth>{});
    case Grouping::Panel:
      return visit(std::integral_constant<int, kTileColumns>{});
    case Grouping::None:
      return visit(std::integral_constant<int, 0>{});
  }
}

}  // namespace acgan::gemm
