"""Small trained generators for check_onnx.py and check_pytorch.py."""

import os
import random
import struct
import subprocess

from safetensors.numpy import load_file

SMALL = "{latent_dim: 6, dense_width: 24, conv1_width: 8, conv2_width: 16, classifier_width: 12}"
WIDE = "{dense_width: 128}"  # and convolutions as wide as the study's, which are the defaults
RESIDUAL = "{preset: resnet32, latent_dim: 6, generator_width: 8, discriminator_width: 12, classifier_width: 12}"
CLASSES = ["tea, green", "café", "cat"]


def write_bitmap(path, size, bar, numbers):
    """A BMP of dark noise with one bright bar in three places; its rows need no padding."""
    rows = []
    for row in range(size):
        light = 195 if 3 * row // size == bar else 0
        rows.append(bytes(light + numbers.randrange(60) for _ in range(3 * size)))
    pixels = b"".join(rows)
    header = struct.pack("<2sIHHI", b"BM", 54 + len(pixels), 0, 0, 54)
    about = struct.pack("<IiiHHIIiiII", 40, size, size, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(header + about + pixels)


class TrainedModel:
    """Trains in `folder`. `checkpoint` is the file; latents, classes and images [N,C,H,W] are
    what this project makes of them."""

    def __init__(self, program, generate, folder, size, channels, widths, count):
        numbers = random.Random(size + channels)
        for bar, name in enumerate(CLASSES):
            os.makedirs(os.path.join(folder, "images", name))
            for i in range(6):
                write_bitmap(os.path.join(folder, "images", name, f"{i}.bmp"), size, bar, numbers)
        with open(os.path.join(folder, "model.yaml"), "w", encoding="utf-8") as file:
            file.write(
                f"data: {{kind: folder, path: images, image_size: {size}, channels: {channels},"
                f" cache: false}}\nmodel: {widths}\n"
                "train: {batch: 6, steps: 40, seed: 3, device: cpu, threads: 1}\n"
                "optimizer: {learning_rate: 5.0e-3}\n"
                "output: {dir: runs, rows: 1, sample_every: 0, save_every: 0}\n"
            )
        subprocess.run([program, "-c", "model.yaml", "--quiet"], cwd=folder, check=True)
        self.run = os.path.join(folder, "runs", "00000-model-fp32-batch6")
        self.checkpoint = os.path.join(self.run, "checkpoints", "step_000040.safetensors")
        made = os.path.join(folder, "made.safetensors")
        subprocess.run([generate, self.checkpoint, str(count), made], check=True)
        arrays = load_file(made)
        self.latents, self.classes = arrays["latent"], arrays["class"]
        self.images = arrays["image"].transpose(0, 3, 1, 2)
