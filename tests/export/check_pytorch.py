#!/usr/bin/env python3
"""scripts/generate_in_pytorch.py makes our images from the safetensors file alone.

usage: check_pytorch.py ACGAN_TRAIN GENERATE_FOR_PYTHON

Exit code 77 (skipped) where torch or another package is missing, in CI as well: torch is too large
to be fetched for this.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile

MISSING = [
    name for name in ("numpy", "safetensors", "torch") if importlib.util.find_spec(name) is None
]
if MISSING:
    print(f"not there: {', '.join(MISSING)}")
    sys.exit(77)

import numpy  # noqa: E402
from trained_model import CLASSES, SMALL, TrainedModel  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(__file__), "../../scripts/generate_in_pytorch.py")
TOLERANCE = 1e-5


def main():
    program, generate = sys.argv[1:]
    worst = 0
    for size, channels, name in ((28, 1, "cat"), (32, 3, "tea, green")):
        with tempfile.TemporaryDirectory() as folder:
            model = TrainedModel(program, generate, folder, size, channels, SMALL, 7)
            latents, images = (os.path.join(folder, name) for name in ("z.npy", "images.npy"))
            numpy.save(latents, model.latents)
            subprocess.run(
                [sys.executable, SCRIPT, model.checkpoint, name, latents, images], check=True
            )
            found = numpy.load(images)
            if found.shape != model.images.shape:
                sys.exit(f"FAILED: images have shape {found.shape}")
            rows = model.classes == sorted(CLASSES).index(name)
            worst = max(worst, numpy.abs(found - model.images)[rows].max())
    if not worst <= TOLERANCE:
        sys.exit(f"FAILED: images differ by {worst}")
    print(f"PyTorch's images are within {worst:.1e} of ours")


if __name__ == "__main__":
    main()
