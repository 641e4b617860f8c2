#!/usr/bin/env python3
"""The ONNX checker accepts what `export` writes, and ONNX Runtime makes our images of it.

usage: check_onnx.py ACGAN_TRAIN GENERATE_FOR_PYTHON

Exit code 77 (skipped) where a package is missing; 1 instead with CI=true.
"""

import json
import os
import subprocess
import sys
import tempfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

try:
    import numpy
    import onnx
    import onnxruntime
    from trained_model import CLASSES, RESIDUAL, SMALL, WIDE, TrainedModel
except ImportError as error:
    print(f"cannot import {error.name}; pip install numpy safetensors onnx onnxruntime")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)

COUNT = 7
TOLERANCE = 1e-5


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_file(path, size, channels, latent_dim):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    check(json.loads(metadata["classes"]) == sorted(CLASSES), f"metadata is {metadata}")
    check("BatchNormalization" not in {node.op_type for node in model.graph.node}, "not folded")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = [(value.name, value.type, value.shape) for value in session.get_inputs()]
    expected = [("latent", "tensor(float)", ["N", latent_dim]), ("class", "tensor(int64)", ["N"])]
    check(found == expected, f"inputs are {found}")
    found = [(value.name, value.type, value.shape) for value in session.get_outputs()]
    check(found == [("image", "tensor(float)", ["N", channels, size, size])], f"output is {found}")
    return session


def check_images(session, model, what):
    """Batches of 1, 3 and 7, whose images depend on latent and class alone."""
    worst = 0
    for count in (1, 3, COUNT):
        for first in range(COUNT - count + 1):
            rows = slice(first, first + count)
            (images,) = session.run(
                None, {"latent": model.latents[rows], "class": model.classes[rows]}
            )
            worst = max(worst, numpy.abs(images - model.images[rows]).max())
    check(worst <= TOLERANCE, f"{what}: images differ by {worst}")
    other = (model.classes[:1] + 1) % len(CLASSES)
    (image,) = session.run(None, {"latent": model.latents[:1], "class": other})
    check(numpy.abs(image - model.images[:1]).max() > 10 * TOLERANCE, f"{what}: class has no part")
    try:
        session.run(None, {"latent": model.latents[:1], "class": numpy.array([len(CLASSES)])})
    except Exception:  # its class is of no public module
        return worst
    sys.exit(f"FAILED: {what}: a class that is not there was taken")


def main():
    program, generate = sys.argv[1:]
    onnxruntime.set_default_logger_severity(4)  # the refused class is no news
    for size, channels, widths in (
        (28, 1, WIDE),
        (28, 3, SMALL),
        (32, 1, SMALL),
        (32, 3, SMALL),
        (24, 1, RESIDUAL),
        (32, 3, RESIDUAL),
    ):
        with tempfile.TemporaryDirectory() as folder:
            model = TrainedModel(program, generate, folder, size, channels, widths, COUNT)
            path = os.path.join(folder, "model.onnx")
            subprocess.run(
                [program, "export", "--checkpoint", model.run, "--onnx", path],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            session = check_file(path, size, channels, model.latents.shape[1])
            what = f"{size}x{size}x{channels}" + (" residual" if widths == RESIDUAL else "")
            spread = model.images.max() - model.images.min()
            worst = check_images(session, model, what)
            print(f"{what}: within {worst:.1e} of ours, whose values spread over {spread:.2f}")
    print(f"onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}")


if __name__ == "__main__":
    main()
