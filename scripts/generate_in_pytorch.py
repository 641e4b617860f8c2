#!/usr/bin/env python3
"""Rebuilds a trained generator in PyTorch from a checkpoint alone, and saves its images.

usage: generate_in_pytorch.py CHECKPOINT CLASS LATENTS.npy IMAGES.npy
Takes generators of model.preset study, the default.
LATENTS float32 [N,latent_dim], uniform in [-1,1) as while training; IMAGES float32 [N,C,H,W] in [0,1].
Needs torch, numpy and safetensors; scripts that need no PyTorch use `acgan-train export`."""
import json
import sys

import numpy
import torch
import torch.nn.functional as F
from safetensors import safe_open

checkpoint, class_name, latents, images = sys.argv[1:]
with safe_open(checkpoint, framework="pt") as file:
    prefix = "ema.generator." if any(key.startswith("ema.") for key in file.keys()) else "generator."
    w = {key[len(prefix):]: file.get_tensor(key) for key in file.keys() if key.startswith(prefix)}
    classes = json.loads(file.metadata()["classes"])
    preset = file.metadata().get("preset", "study")
if preset != "study":
    sys.exit(f"{checkpoint}: its generator is of model.preset {preset}, but this script rebuilds study only; use acgan-train export")


def norm(x, layer):
    statistics = w[layer + ".running_mean"], w[layer + ".running_variance"]
    return F.relu(F.batch_norm(x, *statistics, w[layer + ".gamma"], w[layer + ".beta"], eps=1e-5))


def deconv(x, layer):  # weight [in,kh,kw,out]
    return F.conv_transpose2d(x, w[layer + ".weight"].permute(0, 3, 1, 2), w[layer + ".bias"], 2, 1)


z = torch.from_numpy(numpy.load(latents))
label = F.one_hot(torch.tensor(classes.index(class_name)), len(classes)).expand(len(z), -1)
h = norm(F.linear(torch.cat([z, label], 1), w["dense1.weight"], w["dense1.bias"]), "batch_norm1")
h = norm(F.linear(h, w["dense2.weight"], w["dense2.bias"]), "batch_norm2")
channels = len(w["deconv3.weight"])
side = round((h.shape[1] / channels) ** 0.5)
h = h.view(-1, side, side, channels).permute(0, 3, 1, 2)  # features lie as [H,W,C]
h = norm(deconv(h, "deconv3"), "batch_norm3")
numpy.save(images, torch.sigmoid(deconv(h, "deconv4")).numpy())
