#!/usr/bin/env python3
"""TensorBoard reads what a run writes for it, also across a resume from an earlier checkpoint.

usage: check_tensorboard.py ACGAN_TRAIN

Exit code 77 (skipped) where tensorboard is missing; 1 instead with CI=true.
"""

import csv
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    from tensorboard.backend.event_processing import event_accumulator
except ImportError as error:
    print(f"cannot import {error.name}; pip install tensorboard")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)

CONFIG = """
data: {kind: doodles, image_size: 8, doodles_per_class: 3}
model: {latent_dim: 3, dense_width: 5, conv1_width: 4, conv2_width: 6, classifier_width: 5}
train: {batch: 4, steps: 6, minutes: 1, seed: 5, device: cpu, threads: 1}
output: {dir: runs, rows: 2, sample_every: 0, save_every: 0.000001, keep: 10, report: false,
         tensorboard: true, evaluate_every: 1000}
"""
SCALARS = {
    "loss/d", "loss/g", "loss/q", "accuracy/real", "accuracy/fake", "speed/images_per_s",
    "loss_scale/d", "loss_scale/g", "loss_scale/q", "skipped/d", "skipped/g", "skipped/q",
}
QUALITY = ("class_accuracy", "frechet", "kid", "precision", "recall", "diversity")


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def read_events(run):
    events = event_accumulator.EventAccumulator(
        os.path.join(run, "tensorboard"), size_guidance={"scalars": 0, "images": 0})
    events.Reload()
    return events


def check_scalars(events, run, first, last):
    """Of the process that made the steps from first to last: one event, the means over them."""
    names = SCALARS | {f"quality/{name}" for name in QUALITY}
    check(set(events.Tags()["scalars"]) == names, f"scalars are {events.Tags()['scalars']}")
    for tag in SCALARS:
        check([e.step for e in events.Scalars(tag)] == [last], f"{tag} is {events.Scalars(tag)}")
    with open(os.path.join(run, "timing.csv"), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if first <= int(row["step"]) <= last]
    for name in ("d", "g", "q"):
        expected = sum(float(row[f"{name}_loss"]) for row in rows) / len(rows)
        found = events.Scalars(f"loss/{name}")[0].value
        check(math.isclose(found, expected, rel_tol=1e-5), f"{name}: {found}, not {expected}")
        scale = events.Scalars(f"loss_scale/{name}")[0].value
        check(scale == float(rows[-1][f"loss_scale_{name}"]), f"loss scale {name} is {scale}")


def check_quality(events, run, last):
    """The figures of the evaluation at the end, as metrics.jsonl has them."""
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        record = json.loads(file.readlines()[-1])
    check(record["step"] == last, f"the last record is of step {record['step']}")
    for name in QUALITY:
        (event,) = events.Scalars(f"quality/{name}")
        check(event.step == last, f"{name} is of step {event.step}")
        close = math.isclose(event.value, record[name], rel_tol=1e-5, abs_tol=1e-9)
        check(close, f"{name}: {event.value}, not {record[name]}")


def check_grids(events, run, last):
    images = events.Images("fakes")
    check([image.step for image in images] == [0, last], f"grids are of {[i.step for i in images]}")
    for image in images:  # 10 columns and 2 rows of 8 pixels with 2 between and around them
        check((image.width, image.height) == (102, 22), f"{image.width} by {image.height}")
    with open(os.path.join(run, "samples", "fakes_init.png"), "rb") as file:
        check(images[0].encoded_image_string == file.read(), "the first grid is another one")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "tiny.yaml"), "w", encoding="utf-8") as file:
            file.write(CONFIG)

        def train(*options):
            subprocess.run([program, "-c", "tiny.yaml", "-q", *options], cwd=folder, check=True,
                           env=os.environ | {"XDG_CACHE_HOME": os.path.join(folder, "cache")})

        train()
        (name,) = os.listdir(os.path.join(folder, "runs"))
        run = os.path.join(folder, "runs", name)
        check_scalars(read_events(run), run, 1, 6)
        check_quality(read_events(run), run, 6)
        check_grids(read_events(run), run, 6)
        # Steps 4 to 6 are void once the run goes on from step 3.
        train("--resume", os.path.join(run, "checkpoints", "step_000003.safetensors"),
              "--steps", "5")
        check_scalars(read_events(run), run, 4, 5)
        check_quality(read_events(run), run, 5)
        check_grids(read_events(run), run, 5)
    print("TensorBoard reads scalars, quality and grids, and drops what a resume made void")


if __name__ == "__main__":
    main()
