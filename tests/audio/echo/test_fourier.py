"""Transforms by numpy's own loops, held to what `numpy.fft` makes of the same blocks."""

import numpy as np
import pytest

from audio.echo.linear_echo import Transforms, numpy_loops


@pytest.mark.parametrize("shape", [(), (1,), (6,)])
def test_the_loops_do_what_numpy_does_to_the_last_bit(shape: tuple[int, ...]) -> None:
    loops = numpy_loops()
    assert loops is not None, "the numpy of requirements/ has them; without them each block costs 10 µs more"
    blocks = np.random.default_rng(0).normal(0, 0.1, (*shape, 640)).astype(np.float32)
    found = []
    for transforms in (Transforms(640, loops), Transforms(640, None)):
        spectra, again = np.empty((*shape, 321), np.complex64), np.empty_like(blocks)
        transforms.forward(blocks, spectra)
        transforms.back(spectra, again)
        assert np.allclose(again, blocks, atol=1e-6)
        found.append((spectra, again))
    by_loops, by_numpy = found
    assert all(np.array_equal(one, other) for one, other in zip(by_loops, by_numpy, strict=True))
