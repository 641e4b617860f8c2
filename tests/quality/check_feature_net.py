#!/usr/bin/env python3
"""evaluate --feature-net: figures from nets in ONNX are those of the same features in numpy, and
what cannot be a feature net is refused in one sentence. The net's Python ends with the program.

usage: check_feature_net.py ACGAN_TRAIN

Exit code 77 (skipped) where a package is missing; 1 instead with CI=true.
"""

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import onnx
    import onnx.helper as make
    import onnxruntime  # the program's child needs it
except ImportError as error:
    print(f"cannot import {error.name}; pip install numpy onnx onnxruntime")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)

FEATURES = 12
RANDOM = numpy.random.default_rng(5)
IMAGENET = numpy.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])
SCALES = {
    "unit": lambda x: x,
    "symmetric": lambda x: 2 * x - 1,
    "imagenet": lambda x: (x - IMAGENET[0]) / IMAGENET[1],
    "bytes": lambda x: 255 * x,
}


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


# ---- data sets of random images, as MNIST and CIFAR-10 have them


def write_mnist(folder, part, images, labels):
    for name, array in ((f"{part}-images-idx3-ubyte", images), (f"{part}-labels-idx1-ubyte", labels)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(bytes([0, 0, 8, array.ndim]))
            file.write(numpy.array(array.shape, ">u4").tobytes() + array.astype("u1").tobytes())


def write_cifar(folder, name, images, labels):
    with open(os.path.join(folder, name), "wb") as file:
        for image, label in zip(images, labels):
            file.write(bytes([label]) + image.transpose(2, 0, 1).tobytes())


class Data:
    """Three images of each class to learn from, seven held out (more than a batch), five to judge."""

    def __init__(self, folder, kind):
        self.folder, self.kind = os.path.join(folder, kind), kind
        os.mkdir(self.folder)
        shape = (28, 28, 1) if kind == "mnist" else (32, 32, 3)
        labels = [numpy.arange(10 * n, dtype="u1") % 10 for n in (3, 7, 5)]
        self.train, self.held_out, self.judged = (
            RANDOM.integers(low, 256, (len(l), *shape)).astype("u1") for low, l in zip((0, 20, 90), labels))
        if kind == "mnist":
            write_mnist(self.folder, "train", self.train[..., 0], labels[0])
            write_mnist(self.folder, "t10k", self.held_out[..., 0], labels[1])
        else:
            for i in range(5):
                write_cifar(self.folder, f"data_batch_{i + 1}.bin",
                            self.train[6 * i:6 * i + 6], labels[0][6 * i:6 * i + 6])
            write_cifar(self.folder, "test_batch.bin", self.held_out, labels[1])
            with open(os.path.join(self.folder, "batches.meta.txt"), "w", encoding="utf-8") as file:
                file.write("".join(f"class{i}\n" for i in range(10)))
        numpy.save(os.path.join(folder, f"{kind}.npy"), self.judged)
        numpy.save(os.path.join(folder, f"{kind}_labels.npy"), labels[2])
        with open(os.path.join(folder, f"{kind}.yaml"), "w", encoding="utf-8") as file:
            file.write(f"data: {{kind: {kind}, path: {self.folder}}}\n")


# ---- nets: weights on all pixels, then what `tail` says


class Net:
    def __init__(self, folder, name, shape, sides, tail=("Relu",), output=("N", FEATURES)):
        """`sides`: height and width that the pixels have in the end; None in `shape`: any."""
        self.path, self.sides = os.path.join(folder, name), sides
        self.channels_first = shape[1] == 3
        size = 3 * sides[0] * sides[1]
        self.weight = RANDOM.normal(size=(size, FEATURES)).astype("f4") / math.sqrt(size)
        nodes = [make.make_node("Flatten", ["x"], ["flat"], axis=1),
                 make.make_node("MatMul", ["flat", "w"], ["0"])]
        constants = [onnx.numpy_helper.from_array(self.weight, "w")]
        if "Unsqueeze" in tail:
            constants.append(onnx.numpy_helper.from_array(numpy.array([2, 3]), "axes"))
        for i, operation in enumerate(tail):
            inputs = [str(i), "axes"] if operation == "Unsqueeze" else [str(i)]
            nodes.append(make.make_node(operation, inputs, [str(i + 1)]))
        floats = onnx.TensorProto.FLOAT
        graph = make.make_graph(
            nodes, "net", [make.make_tensor_value_info("x", floats, shape)],
            [make.make_tensor_value_info(str(len(tail)), floats, output)], constants)
        save(graph, self.path)

    def features(self, images, scale):
        x = images.astype("f8") / 255
        x = numpy.einsum("ih,jw,nhwc->nijc", bilinear(x.shape[1], self.sides[0]),
                         bilinear(x.shape[2], self.sides[1]), x)
        x = SCALES[scale](numpy.broadcast_to(x, (*x.shape[:3], 3)))
        if self.channels_first:
            x = x.transpose(0, 3, 1, 2)
        return numpy.maximum(x.reshape(len(x), -1) @ self.weight.astype("f8"), 0)


def bilinear(found, wanted):
    """Row i has the weights of the pixels that pixel i of `wanted` is made of."""
    matrix = numpy.zeros((wanted, found))
    for i in range(wanted):
        place = (i + 0.5) * found / wanted - 0.5
        for pixel in range(-1, found + 1):
            inside = min(max(pixel, 0), found - 1)
            matrix[i, inside] += max(0, 1 - abs(place - pixel))
    return matrix


# ---- figures


def frechet(a, b):
    product = numpy.cov(a, rowvar=False) @ numpy.cov(b, rowvar=False)
    root = numpy.sqrt(numpy.linalg.eigvals(product).real.clip(0)).sum()
    spread = numpy.trace(numpy.cov(a, rowvar=False)) + numpy.trace(numpy.cov(b, rowvar=False))
    return ((a.mean(0) - b.mean(0)) ** 2).sum() + spread - 2 * root


def share_inside(points, centers):
    def distances(x, y):
        return numpy.sqrt(((x[:, None] - y[None]) ** 2).sum(2))

    radii = numpy.sort(distances(centers, centers), axis=1)[:, 3]  # the first is the row itself
    return (distances(points, centers) <= radii).any(axis=1).mean()


class Program:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder
        os.mkdir(os.path.join(folder, "temporary"))

    def start(self, *options, python=sys.executable):
        environment = os.environ | {
            "ACGAN_PYTHON": python, "TMPDIR": os.path.join(self.folder, "temporary"),
            "XDG_CACHE_HOME": os.path.join(self.folder, "cache")}
        return subprocess.Popen([self.program, "evaluate", "--device", "cpu", *options],
                                cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def evaluate(self, *options, **others):
        process = self.start(*options, **others)
        output, errors = process.communicate()
        done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
        left = os.listdir(os.path.join(self.folder, "temporary"))
        check(not left, f"left in the folder for temporary files: {left}")
        return done

    def images(self, data, net, *options, **others):
        return self.evaluate(*images_of(data, net), *options, **others)


def images_of(data, net):
    return ("--images", f"{data.kind}.npy", "-c", f"{data.kind}.yaml", "--labels",
            f"{data.kind}_labels.npy", "--feature-net", net)


def check_figures(program, data, net, scale):
    done = program.images(data, net.path, "--feature-scale", scale, "--out", "m.jsonl")
    check(done.returncode == 0 and not done.stderr, f"{net.path}: {done.stderr}")
    with open(os.path.join(program.folder, "m.jsonl"), encoding="utf-8") as file:
        record = json.loads(file.readlines()[-1])
    judged, real, train = (
        net.features(images, scale) for images in (data.judged, data.held_out, data.train))
    expected = {"frechet": frechet(judged, real), "precision": share_inside(judged, real),
                "recall": share_inside(real, judged)}
    floor = {"frechet": frechet(train, real), "precision": share_inside(train, real)}
    for wanted, found in ((expected, record), (floor, record["floor"])):
        for name, value in wanted.items():
            close = math.isclose(found[name], value, rel_tol=1e-3, abs_tol=1e-6)
            check(close, f"{net.path}, {scale}: {name} is {found[name]}, not {value}")
    with open(net.path, "rb") as file:
        sha = hashlib.sha256(file.read()).hexdigest()
    facts = record["feature_net"]
    check((facts["id"], facts["file"], facts["scale"], facts["width"])
          == (sha, net.path, scale, FEATURES), f"feature_net is {facts}")
    check(record["class_accuracy"] is None and facts["held_out_accuracy"] is None, "it classifies")
    check(record["diversity"] > 0 and len(record["classes"]) == 10, f"record is {record}")
    print(f"{os.path.basename(net.path)}, {data.kind}, {scale}: frechet {record['frechet']:.6g}, "
          f"of numpy's features {expected['frechet']:.6g}")


def check_refusals(program, data, folder):
    def refuse(net, exit_code, part, **others):
        done = program.images(data, net, **others)
        lines = done.stderr.splitlines()
        check(done.returncode == exit_code and len(lines) == 1 and part in lines[0],
              f"expected {exit_code} and '{part}', found {done.returncode}: {done.stderr}")

    def net(*arguments, **others):
        return Net(folder, "refused.onnx", *arguments, **others).path

    refuse("missing.onnx", 3, "'missing.onnx' cannot be opened")
    refuse("mnist.yaml", 3, "'mnist.yaml' cannot be the feature net: ONNX Runtime cannot load it")
    refuse(net(["N", 12], (2, 2)), 3, "shape ['N', 12], expected [N,3,H,W] or [N,H,W,3]")
    refuse(net(["N", 1, 4, 12], (4, 4)), 3, "expected [N,3,H,W] or [N,H,W,3]")
    refuse(net(["N", 3, 4, 4], (4, 4), tail=("Neg", "Exp", "Neg", "Log")), 3,
           "its output for image 0 has Inf or NaN")
    bad = net(["N", 3, "H", "W"], (4, 4))  # its weights are for 4x4, the images are larger
    refuse(bad, 3, "it fails on images [64, 3, 28, 28]")
    good = Net(folder, "good.onnx", ["N", 3, 4, 4], (4, 4)).path
    refuse(good, 5, "cannot run /nowhere/python", python="/nowhere/python")
    refuse(good, 5, "/bin/true did not answer", python="/bin/true")
    blind = net(["N", 3, 4, 4], (4, 4), tail=("Relu", "Neg", "Relu"))
    refuse(blind, 3, "gives the same features for all 70 held-out real images; does it take pixels "
           "of another --feature-scale than unit?")
    refuse(batch_wide_net(folder), 3, "it gives 64 features for one batch and 6 for another")
    for place in ("ext.bin", f"../{os.path.basename(folder)}/ext.bin",
                  os.path.join(folder, "ext.bin")):
        refuse(net_in_two_files(good, place), 3, "must be a whole model in this one file")

    def python(text):
        path = os.path.join(folder, "a_python")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o700)
        return path

    bare = python(f'exec "{sys.executable}" -I -S "$@"')
    refuse(good, 5, "Python has no module numpy", python=bare)
    refuse(good, 5, "a_python failed: ended by signal 9 (Killed)", python=python("kill -9 $$"))
    refuse(good, 5, "a_python failed: exit code 7", python=python("exit 7"))
    for line in ("ok", "ok abc -5", "ok abc 99999999999999", f"ok {64 * 'a'} -5", "nonsense 3",
                 f"ok {64 * 'a'} 99999999999999", f"ok {64 * 'a'} {1 << 62}"):
        refuse(good, 5, f"gave an answer that makes no sense ('{line}')",
               python=python(f"echo {line} > /dev/fd/5"))
    # The script's text is as good as any for features; $3 is how many images there are.
    features = "head -c $(($3 * ($3 / 10) * 4)) > /dev/fd/4"
    refuse(good, 3, "it gives 7 features for one batch and 3 for another",
           python=python(f"{features}\necho ok {64 * 'a'} $(($3 / 10)) > /dev/fd/5"))
    refuse(good, 3, "was changed while it was in use",
           python=python(f"{features}\necho ok {62 * 'a'}$3 $(($3 / 10)) > /dev/fd/5"))


def save(graph, path):
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def values(name, shape, kind=onnx.TensorProto.FLOAT):
    return make.make_tensor_value_info(name, kind, shape)


def batch_wide_net(folder):
    """Each image times each of the batch."""
    nodes = [make.make_node("Flatten", ["x"], ["flat"], axis=1),
             make.make_node("Transpose", ["flat"], ["turned"]),
             make.make_node("MatMul", ["flat", "turned"], ["y"])]
    return save(make.make_graph(nodes, "net", [values("x", ["N", 3, 4, 4])],
                                [values("y", ["N", "N"])]), os.path.join(folder, "refused.onnx"))


def net_in_two_files(path, place):
    """The same net, its weights at `place`."""
    model, folder = onnx.load(path), os.path.dirname(path)
    weight = model.graph.initializer[0]
    with open(os.path.join(folder, "ext.bin"), "wb") as file:
        file.write(weight.raw_data)
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=place)
    two = os.path.join(folder, "refused.onnx")
    with open(two, "wb") as file:
        file.write(model.SerializeToString())
    return two


def endless_net(folder):
    """Its Loop goes round for days."""
    body = make.make_graph(
        [make.make_node("Identity", ["on"], ["still_on"]), make.make_node("Relu", ["in"], ["out"])],
        "body", [values("i", [], onnx.TensorProto.INT64), values("on", [], onnx.TensorProto.BOOL),
                 values("in", None)],
        [values("still_on", [], onnx.TensorProto.BOOL), values("out", None)])
    nodes = [make.make_node("Flatten", ["x"], ["flat"], axis=1),
             make.make_node("Loop", ["times", "", "flat"], ["y"], body=body)]
    times = onnx.numpy_helper.from_array(numpy.array(1 << 50), "times")
    return save(make.make_graph(nodes, "net", [values("x", ["N", 3, 4, 4])],
                                [values("y", ["N", 48])], [times]),
                os.path.join(folder, "endless.onnx"))


def child_of(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
        return next(iter(file.read().split()), None)


def runs(process):
    """Not ended; one that has, but whose parent has not asked, is Z."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def computes(child):
    """It opens the files of images and features, which it was given, once the net is there."""
    folder = f"/proc/{child}/fd"
    try:
        links = [os.readlink(os.path.join(folder, file)) for file in os.listdir(folder)]
    except FileNotFoundError:  # just closed
        return False
    return sum("/acgan-train-" in link for link in links) == 4


def wait_until(condition, what):
    for _ in range(3000):
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    return check(False, what)


def check_ends_with_program(program, data, folder):
    net = endless_net(folder)
    for kill, computing in ((signal.SIGKILL, False), (signal.SIGKILL, True), (signal.SIGTERM, True)):
        process = program.start(*images_of(data, net))
        child = wait_until(lambda: child_of(process), "no Python was started")
        try:
            if computing:
                wait_until(lambda: computes(child), "Python does not come to compute")
            process.send_signal(kill)
            process.communicate()
            check(process.returncode == -kill, f"the program ended with {process.returncode}")
            wait_until(lambda: not runs(child), f"Python outlives the program after {kill.name}")
        finally:
            if runs(child):
                os.kill(int(child), signal.SIGKILL)


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        mnist, cifar = Data(folder, "mnist"), Data(folder, "cifar10")
        # Not ours to run.
        with open(os.path.join(folder, "numpy.py"), "w", encoding="utf-8") as file:
            file.write("raise SystemExit('the wrong numpy')\n")
        first = Net(folder, "first.onnx", ["N", 3, 13, 35], (13, 35))
        last = Net(folder, "last.onnx", [7, 9, 14, 3], (9, 14), output=(7, FEATURES))
        wide = Net(folder, "any.onnx", ["N", 3, "H", "W"], (32, 32), tail=("Relu", "Unsqueeze"),
                   output=("N", FEATURES, 1, 1))
        check_figures(program, mnist, first, "unit")
        check_figures(program, mnist, last, "symmetric")
        check_figures(program, cifar, wide, "imagenet")
        check_figures(program, cifar, last, "bytes")
        check_refusals(program, mnist, folder)
        check_ends_with_program(program, mnist, folder)
        few = program.evaluate("--images", "mnist.npy", "-c", "mnist.yaml", "--set",
                               "data.limit_per_class=1", "--feature-net", first.path)
        check("10 images are too few for 12 features" in few.stderr, f"no warning: {few.stderr}")
    print(f"onnx {onnx.__version__}, ONNX Runtime {onnxruntime.__version__}")


if __name__ == "__main__":
    main()
