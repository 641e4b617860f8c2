#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>

namespace acgan {

// A figure of a row; nothing where it does not exist.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

inline bool is_empty(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

// A whole number is a number too.
inline std::optional<double> number_in(const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*value);
  return std::nullopt;
}

inline Cell known(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

// What a file has of each row under one name.
template <typename Row>
struct FileColumn {
  const char* name;
  std::function<Cell(const Row&)> get;
  // The other way round; false where the cell is of no type that the column can have.
  std::function<bool(Row&, const Cell&)> set;
};

// Text, yes or no, or a count: always there.
template <typename Row, typename Value>
FileColumn<Row> file_column(const char* name, Value Row::*member) {
  return {name, [member](const Row& row) { return Cell(row.*member); },
          [member](Row& row, const Cell& cell) {
            const auto* const value = std::get_if<Value>(&cell);
            if (value != nullptr) row.*member = *value;
            return value != nullptr;
          }};
}

// A number; nothing (NaN in the row) where it is not finite.
template <typename Row>
FileColumn<Row> figure_column(const char* name, double Row::*member) {
  return {name, [member](const Row& row) { return Cell(row.*member); },
          [member](Row& row, const Cell& cell) {
            const auto value = number_in(cell);
            row.*member = value.value_or(std::numeric_limits<double>::quiet_NaN());
            return value || is_empty(cell);
          }};
}

// A figure of a part that a row may lack.
template <typename Row, typename Part>
FileColumn<Row> part_column(const char* name, std::optional<Part> Row::*part,
                            double Part::*member) {
  return {
      name,
      [part, member](const Row& row) { return row.*part ? Cell(*(row.*part).*member) : Cell(); },
      [part, member](Row& row, const Cell& cell) {
        const auto value = number_in(cell);
        if (!value) return is_empty(cell);
        if (!(row.*part)) (row.*part).emplace();
        *(row.*part).*member = *value;
        return true;
      }};
}

}  // namespace acgan
