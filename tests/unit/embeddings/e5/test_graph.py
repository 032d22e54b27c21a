import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embeddings.e5 import graph
from shared.embeddings.e5.weights import Weights


@given(st.lists(st.lists(st.floats(-4, 4, width=32), min_size=6, max_size=6), min_size=1, max_size=5))
def test_no_pair_of_weights_can_overflow_sixteen_bits_and_none_is_off_by_more_than_half_a_step(
    columns: list[list[float]],
) -> None:
    matrix = np.array(columns, np.float32).T
    integers, scales = graph.quantised(matrix)
    pairs = np.abs(integers[0::2].astype(int)) + np.abs(integers[1::2].astype(int))
    assert pairs.max() * 255 <= 2**15 - 1
    assert np.abs(integers * scales - matrix).max() <= scales.max() * 0.501


def test_the_models_own_matrices_keep_their_precision(weights: Weights) -> None:
    matrix = weights.matrix("l3.fi.w", weights.inner).T
    integers, scales = graph.quantised(matrix)
    error = np.linalg.norm(integers * scales - matrix) / np.linalg.norm(matrix)
    assert error == pytest.approx(0.01, abs=0.006)


def test_the_same_weights_give_the_same_model(weights: Weights) -> None:
    assert graph.build(weights) == graph.build(weights)
