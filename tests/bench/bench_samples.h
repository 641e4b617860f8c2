#pragma once

#include "bench/bench_document.h"

namespace acgan::test {

// Rows and contexts whose every text is a trap for some format.
BenchRow measured_row();
BenchRow refused_row();
BenchContext sample_context();
AfterResult sample_after();

}  // namespace acgan::test
