#!/usr/bin/env python3
"""Our distances between sets of features are those that numpy and scipy give.

usage: check_distances.py DISTANCES_FOR_PYTHON

Exit code 77 (skipped) where numpy, scipy or safetensors is missing; 1 instead with CI=true.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import safetensors.numpy
    import scipy
    import scipy.linalg
    import scipy.spatial.distance
except ImportError as error:
    print(f"cannot import {error.name}; pip install numpy scipy safetensors")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def frechet(a, b):
    root = scipy.linalg.sqrtm(numpy.cov(a, rowvar=False) @ numpy.cov(b, rowvar=False))
    spread = numpy.trace(numpy.cov(a, rowvar=False)) + numpy.trace(numpy.cov(b, rowvar=False))
    return numpy.sum((a.mean(0) - b.mean(0)) ** 2) + spread - 2 * numpy.trace(root).real


def kernel(a, b):
    def of(x, y):
        return (x @ y.T / x.shape[1] + 1) ** 3

    def within(x):
        k = of(x, x)
        return (k.sum() - numpy.trace(k)) / (len(x) * (len(x) - 1))

    return within(a) + within(b) - 2 * of(a, b).mean()


def share_inside(points, centers, neighbors=3):
    radii = numpy.sort(scipy.spatial.distance.cdist(centers, centers), axis=1)[:, neighbors]
    return (scipy.spatial.distance.cdist(points, centers) <= radii).any(axis=1).mean()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "distances.safetensors")
        subprocess.run([sys.argv[1], path], check=True)
        arrays = safetensors.numpy.load_file(path)
    a, b = arrays["a"].astype(float), arrays["b"].astype(float)
    expected = [frechet(a, b), kernel(a, b), share_inside(b, a), share_inside(a, b)]
    names = ["frechet", "kernel", "precision", "recall"]
    # The covariance of 80 rows has eigenvalues that are zero but for rounding; the root of a
    # product, which scipy takes, leaves 1e-8 of each.
    tolerances = [1e-4, 1e-9, 1e-9, 1e-9]
    for name, ours, theirs, tolerance in zip(names, arrays["distances"], expected, tolerances):
        print(f"{name}: {ours:.12g}, by numpy and scipy {theirs:.12g}")
        if not abs(ours - theirs) <= tolerance * abs(theirs):
            sys.exit(f"FAILED: {name} differs by more than {tolerance}")
    print(f"numpy {numpy.__version__} and scipy {scipy.__version__} agree")


if __name__ == "__main__":
    main()
