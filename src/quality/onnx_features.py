"""Features of images by a net in ONNX, for acgan-train, which runs this text.

arguments: NET N H W C SCALE THREADS PARENT
Reads uint8 images [N,H,W,C] from descriptor 3, writes float32 features [N,F] to descriptor 4 and
one line to descriptor 5: "ok SHA256 F", "refused WHY" (the net's fault) or "missing WHAT".
Ends when the process PARENT does.
"""

import os
import resource
import signal
import sys

# From 1.32 on ONNX Runtime reports its use to its makers, and keeps a file for that, unless told not to.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
sys.path = [folder for folder in sys.path if folder]  # no modules from the current folder

MOST_SIDE = 4096
MOST_FEATURES = 4096
MOST_FIXED_BATCH = 1024
MOST_VALUES = 1 << 25  # of a batch at the net's size


def answer(kind, text):
    line = " ".join(str(text).split())[:2000]
    with open("/dev/fd/5", "wb") as file:
        file.write(f"{kind} {line}\n".encode("utf-8", "replace"))
    sys.exit(0)


def end_with(parent):
    """However the parent ends, nobody waits for this process then."""
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_parent_death_signal, ctypes.c_ulong(signal.SIGKILL))
    try:
        os.kill(parent, 0)
    except ProcessLookupError:  # it was sooner
        os._exit(1)


try:
    import ctypes

    end_with(int(sys.argv[8]))
    import hashlib

    import numpy
    import onnxruntime
except ImportError as error:
    answer("missing", f"{error.name} ({sys.executable})")


def axis_weights(found, wanted):
    """Bilinear, pixel centres at half: left and right neighbour of each pixel, weight of the right."""
    place = (numpy.arange(wanted) + 0.5) * found / wanted - 0.5
    place = numpy.clip(place, 0, found - 1)
    left = numpy.floor(place).astype(int)
    return left, numpy.minimum(left + 1, found - 1), (place - left).astype("float32")


def resize(images, height, width):
    left, right, weight = axis_weights(images.shape[1], height)
    weight = weight[:, None, None]
    images = images[:, left] * (1 - weight) + images[:, right] * weight
    left, right, weight = axis_weights(images.shape[2], width)
    weight = weight[:, None]
    return images[:, :, left] * (1 - weight) + images[:, :, right] * weight


def scaled(images, scale):
    """From [0,1] to what the net was trained on; [n,H,W,3]."""
    if scale == "symmetric":
        return images * 2 - 1
    if scale == "imagenet":
        mean = numpy.array([0.485, 0.456, 0.406], "float32")
        return (images - mean) / numpy.array([0.229, 0.224, 0.225], "float32")
    return images * 255 if scale == "bytes" else images


class NoOpening:
    """No file can be opened within."""

    def __enter__(self):
        self.limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, self.limits[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_NOFILE, self.limits)


class Net:
    def __init__(self, path, threads):
        with open(path, "rb") as file:
            content = file.read()
        self.sha = hashlib.sha256(content).hexdigest()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = threads
        try:
            # A net may name other files to take its weights from, which the SHA-256 does not cover.
            with NoOpening():
                self.session = onnxruntime.InferenceSession(
                    content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's own are of no public module
            answer("refused", "ONNX Runtime cannot load it (it must be a whole model in this one "
                   f"file, others are not read): {error}")
        if len(self.session.get_inputs()) != 1:
            answer("refused", f"it has {len(self.session.get_inputs())} inputs, expected one")
        net_input = self.session.get_inputs()[0]
        self.name, shape = net_input.name, net_input.shape
        if net_input.type != "tensor(float)":
            answer("refused", f"its input is {net_input.type}, expected tensor(float)")
        fits = len(shape) == 4 and 3 in (shape[1], shape[3])
        if not fits:
            answer("refused", f"its input has the shape {shape}, expected [N,3,H,W] or [N,H,W,3]")
        self.channels_first = shape[1] == 3
        self.size = shape[2:4] if self.channels_first else shape[1:3]
        for side in self.size:
            if isinstance(side, int) and not 0 < side <= MOST_SIDE:
                answer("refused", f"its input has the shape {shape}, sides of 1 to {MOST_SIDE} "
                       "pixels were expected")
        self.batch = shape[0] if isinstance(shape[0], int) else None
        if self.batch is not None and not 0 < self.batch <= MOST_FIXED_BATCH:
            answer("refused", f"its input has the shape {shape}, a batch of any size, or of 1 to "
                   f"{MOST_FIXED_BATCH} images, was expected")

    def features(self, images, first):
        """Of float32 images [n,H,W,3]; `first` is the number of the first one, for messages."""
        count = len(images)
        if self.batch is not None and count < self.batch:
            images = images[numpy.arange(self.batch) % count]
        if self.channels_first:
            images = images.transpose(0, 3, 1, 2)
        images = numpy.ascontiguousarray(images, "float32")
        try:
            output = self.session.run(
                [self.session.get_outputs()[0].name], {self.name: images})[0]
        except Exception as error:
            answer("refused", f"it fails on images {list(images.shape)}: {error}")
        output = numpy.asarray(output)
        axes = [axis for axis in output.shape[1:] if axis != 1]
        if output.ndim < 2 or len(output) != len(images) or len(axes) > 1:
            answer("refused", f"its output has the shape {list(output.shape)} for {len(images)} "
                   "images, expected [N,F]")
        output = output.reshape(len(images), -1)[:count].astype("float32")
        if not 1 <= output.shape[1] <= MOST_FEATURES:
            answer("refused", f"it gives {output.shape[1]} features an image, 1 to "
                   f"{MOST_FEATURES} were expected")
        bad = ~numpy.isfinite(output).all(axis=1)
        if bad.any():
            answer("refused", f"its output for image {first + int(bad.argmax())} has Inf or NaN; "
                   "does the net take pixels of another --feature-scale?")
        return output


def main():
    path, scale = sys.argv[1], sys.argv[6]
    count, height, width, channels, threads = (int(sys.argv[i]) for i in (2, 3, 4, 5, 7))
    net = Net(path, threads)
    to_height, to_width = (
        wanted if isinstance(wanted, int) else found
        for wanted, found in zip(net.size, (height, width)))
    batch = net.batch or max(1, min(64, MOST_VALUES // (3 * to_height * to_width)))
    features = 0
    with open("/dev/fd/3", "rb") as images, open("/dev/fd/4", "wb") as out:
        for first in range(0, count, batch):
            rows = min(batch, count - first)
            pixels = numpy.frombuffer(images.read(rows * height * width * channels), "uint8")
            pixels = pixels.reshape(rows, height, width, channels).astype("float32") / 255
            pixels = resize(pixels, to_height, to_width)
            pixels = numpy.repeat(pixels, 3 // channels, axis=3)
            part = net.features(scaled(pixels, scale), first)
            if features not in (0, part.shape[1]):
                answer("refused", f"it gives {features} features for one batch and "
                       f"{part.shape[1]} for another")
            features = part.shape[1]
            out.write(part.tobytes())
    answer("ok", f"{net.sha} {features}")


main()
