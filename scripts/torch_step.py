#!/usr/bin/env python3
"""The training step of this project in PyTorch, as a yardstick on a GPU: the same networks, losses and
three optimisers, with automatic mixed precision and channels_last, with and without CUDA graphs.

usage: torch_step.py [--batch 64,128,...] [--precision fp32,mixed] [--size 28] [--channels 1]
                     [--seconds 2] [--csv FILE]
Prints one line a row: precision, graphs, batch, median ms, images/s. Without torch or a GPU it says so and exits with 77."""
import argparse
import statistics
import sys

try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError:
    torch = None

LATENT, CLASSES, WIDE, FIRST, SECOND, CLASSIFIER = 100, 10, 1024, 64, 128, 128


def skip(why):
    print(f"torch_step: skipped, {why}")
    sys.exit(77)


def make_networks(size, channels):
    base = size // 4

    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense1 = nn.Linear(LATENT + CLASSES, WIDE)
            self.norm1 = nn.BatchNorm1d(WIDE)
            self.dense2 = nn.Linear(WIDE, base * base * SECOND)
            self.norm2 = nn.BatchNorm1d(base * base * SECOND)
            self.deconv3 = nn.ConvTranspose2d(SECOND, FIRST, 4, 2, 1)
            self.norm3 = nn.BatchNorm2d(FIRST)
            self.deconv4 = nn.ConvTranspose2d(FIRST, channels, 4, 2, 1)

        def forward(self, z):
            h = F.relu(self.norm1(self.dense1(z)))
            h = F.relu(self.norm2(self.dense2(h)))
            h = h.view(-1, base, base, SECOND).permute(0, 3, 1, 2)
            h = F.relu(self.norm3(self.deconv3(h)))
            return torch.sigmoid(self.deconv4(h))

    class Trunk(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, FIRST, 4, 2, 1)
            self.conv2 = nn.Conv2d(FIRST, SECOND, 4, 2, 1)
            self.norm2 = nn.BatchNorm2d(SECOND)
            self.dense3 = nn.Linear(base * base * SECOND, WIDE)
            self.norm3 = nn.BatchNorm1d(WIDE)

        def forward(self, x):
            h = F.leaky_relu(self.conv1(x), 0.2)
            h = F.leaky_relu(self.norm2(self.conv2(h)), 0.2)
            h = h.permute(0, 2, 3, 1).flatten(1)
            return F.leaky_relu(self.norm3(self.dense3(h)), 0.2)

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense1 = nn.Linear(WIDE, CLASSIFIER)
            self.norm1 = nn.BatchNorm1d(CLASSIFIER)
            self.dense2 = nn.Linear(CLASSIFIER, CLASSES)

        def forward(self, features):
            return self.dense2(F.leaky_relu(self.norm1(self.dense1(features)), 0.2))

    return Generator(), Trunk(), nn.Linear(WIDE, 1), Classifier()


class Step:
    """One iteration: D, then G and Q from one forward pass, each with its own scaler and Adam."""

    def __init__(self, batch, size, channels, mixed):
        torch.manual_seed(1)
        self.mixed = mixed
        self.g, self.trunk, self.head, self.classifier = [
            network.cuda().to(memory_format=torch.channels_last)
            for network in make_networks(size, channels)]
        self.d_weights = [*self.trunk.parameters(), *self.head.parameters()]
        self.g_weights = [*self.g.parameters()]
        self.q_weights = [*self.g.parameters(), *self.trunk.parameters(), *self.classifier.parameters()]
        adam = dict(lr=2e-4, betas=(0.5, 0.999), fused=True, capturable=True)
        self.optimizers = [torch.optim.Adam(w, **adam)
                           for w in (self.d_weights, self.g_weights, self.q_weights)]
        self.scale = 1024.0 if mixed else 1.0
        self.real = torch.rand(batch, channels, size, size, device="cuda").to(
            memory_format=torch.channels_last)
        self.labels = torch.randint(CLASSES, (batch,), device="cuda")
        self.one_hot = F.one_hot(self.labels, CLASSES).float()

    def update(self, index, weights, gradients):
        for weight, gradient in zip(weights, gradients):
            weight.grad = None if gradient is None else gradient.float() / self.scale
        self.optimizers[index].step()

    def gradients(self, loss, weights, keep=False):
        return torch.autograd.grad(loss * self.scale, weights, retain_graph=keep, allow_unused=True)

    def run(self):
        z = torch.rand(self.labels.shape[0], LATENT, device="cuda") * 2 - 1
        bce = F.binary_cross_entropy_with_logits
        with torch.autocast("cuda", torch.float16, enabled=self.mixed):
            fake = self.g(torch.cat([z, self.one_hot], 1))
            on_real = self.head(self.trunk(self.real)).float()
            on_fake = self.head(self.trunk(fake.detach())).float()
            loss = bce(on_real, torch.ones_like(on_real)) + bce(on_fake, torch.zeros_like(on_fake))
        self.update(0, self.d_weights, self.gradients(loss, self.d_weights))
        with torch.autocast("cuda", torch.float16, enabled=self.mixed):
            fake_features, real_features = self.trunk(fake), self.trunk(self.real)
            on_fake = self.head(fake_features).float()
            g_loss = bce(on_fake, torch.ones_like(on_fake))
            q_loss = (F.cross_entropy(self.classifier(real_features).float(), self.labels) +
                      F.cross_entropy(self.classifier(fake_features).float(), self.labels))
        g_gradients = self.gradients(g_loss, self.g_weights, keep=True)
        q_gradients = self.gradients(q_loss, self.q_weights)
        self.update(1, self.g_weights, g_gradients)
        self.update(2, self.q_weights, q_gradients)


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step.run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step.run()
    return graph.replay


def median_ms(run, seconds):
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    times, total = [], 0.0
    while total < seconds * 1e3 or len(times) < 10:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
        total += times[-1]
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", default="64,256,1024")
    parser.add_argument("--precision", default="fp32,mixed")
    parser.add_argument("--size", type=int, default=28)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    if torch is None:
        skip("python3 has no torch")
    if not torch.cuda.is_available():
        skip("torch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    rows = ["precision,graphs,batch,median_ms,images_per_s"]
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    for batch in map(int, arguments.batch.split(",")):
        for precision in arguments.precision.split(","):
            for graphs in (False, True):
                try:
                    step = Step(batch, arguments.size, arguments.channels, precision == "mixed")
                    ms = median_ms(captured(step) if graphs else step.run, arguments.seconds)
                    row = f"{precision},{int(graphs)},{batch},{ms:.3f},{1e3 * batch / ms:.1f}"
                except torch.cuda.OutOfMemoryError:
                    row = f"{precision},{int(graphs)},{batch},,"
                print(row, flush=True)
                rows.append(row)
                step = None
                torch.cuda.empty_cache()
    if arguments.csv:
        with open(arguments.csv, "w") as file:
            file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
