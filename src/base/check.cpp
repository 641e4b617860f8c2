#include "base/check.h"

#include <stdexcept>

#include "base/format.h"

namespace acgan {

void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(fmt::format("{}:{}: check failed: {}", file, line, condition));
}

}  // namespace acgan
