#!/usr/bin/env python3
"""Python's safetensors package reads our checkpoints, and we read what it writes.

usage: check_safetensors.py CHECKPOINT_FOR_PYTHON

Exit code 77 (skipped) where numpy or safetensors is missing; 1 instead with CI=true.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import safetensors
    import safetensors.numpy
except ImportError as error:
    print(f"cannot import {error.name}; pip install numpy safetensors")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)

EXPECTED = {
    "bytes": numpy.array([250, 251, 252, 253, 254, 255, 0], numpy.uint8),
    "halves": numpy.full((5, 1), 0.5, numpy.float16),
    "generator.dense1.weight": numpy.arange(-7, 8, dtype=numpy.float32).reshape(3, 5),
    "doubles": numpy.array([0.25, 1.25, 2.25, 3.25]).reshape(2, 1, 2),
    "labels": numpy.array([-1, 0, 1], numpy.int32),
    "counts": numpy.array(1 << 40, numpy.int64),
    "empty": numpy.zeros((0, 4), numpy.float32),
}
NO_NUMPY_TYPE = "brains"  # BF16: only its shape is looked at


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_ours(path):
    with safetensors.safe_open(path, framework="np") as file:
        check(set(file.keys()) == {*EXPECTED, NO_NUMPY_TYPE}, f"names are {sorted(file.keys())}")
        metadata = file.metadata()
        check(metadata["config"] == 'data:\n  path: "café"\n', f"metadata is {metadata}")
        check(len(metadata["checksum"]) == 16, f"metadata is {metadata}")
        check(file.get_slice(NO_NUMPY_TYPE).get_dtype() == "BF16", "dtype of BF16")
        check(list(file.get_slice(NO_NUMPY_TYPE).get_shape()) == [3], "shape of BF16")
        for name, expected in EXPECTED.items():
            found = file.get_tensor(name)
            check(found.dtype == expected.dtype, f"{name} is {found.dtype}")
            check(found.shape == expected.shape, f"{name} has shape {found.shape}")
            check(numpy.array_equal(found, expected), f"{name} is {found}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        ours = os.path.join(folder, "ours.safetensors")
        subprocess.run([program, "write", ours], check=True)
        check_ours(ours)

        theirs = os.path.join(folder, "theirs.safetensors")
        arrays = {
            "weight": numpy.arange(1, 7, dtype=numpy.float32).reshape(2, 3),
            "mask": numpy.array([1, 0, 1], numpy.uint8),
        }
        safetensors.numpy.save_file(arrays, theirs, metadata={"made_by": "python"})
        subprocess.run([program, "read", theirs], check=True)
    print(f"safetensors {safetensors.__version__}: both directions agree")


if __name__ == "__main__":
    main()
