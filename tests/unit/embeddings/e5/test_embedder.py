import asyncio
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

from shared.embeddings.e5.embedder import E5Embedder, runs_here
from shared.embeddings.e5.tokens import Tokens
from shared.embeddings.local import LocalEmbedder
from tests.unit.embeddings.e5.conftest import some_texts


@pytest.fixture(scope="module")
def embedder() -> Generator[E5Embedder]:
    embedder = E5Embedder(threads=2)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def wheel() -> Generator[LocalEmbedder]:
    embedder = LocalEmbedder(threads=2)
    yield embedder
    embedder.close()


def test_vectors_agree_with_the_wheels_kernel(embedder: E5Embedder, wheel: LocalEmbedder, material: Path) -> None:
    texts = [*some_texts(material, every=120, characters=150), "短", "a", ""]
    ours, theirs = embedder.embed_passages(texts), wheel.embed_passages(texts)
    assert ours.tokens == theirs.tokens
    assert (ours.vectors * theirs.vectors).sum(axis=1).min() > 0.9985


def test_a_query_agrees_with_the_wheels_query_mode(embedder: E5Embedder, wheel: LocalEmbedder) -> None:
    ours, theirs = (asyncio.run(each.embed_query("泵房多久巡检一次？")).vectors[0] for each in (embedder, wheel))
    passage = embedder.embed_passages(["泵房多久巡检一次？"]).vectors[0]
    assert float(ours @ theirs) > 0.9985 > float(ours @ passage)


def test_a_vector_does_not_depend_on_its_company_or_on_threads(embedder: E5Embedder, material: Path) -> None:
    texts = some_texts(material, every=60, characters=150)[:6]
    alone = E5Embedder(threads=1)
    one_by_one = np.concatenate([alone.embed_passages([text]).vectors for text in texts])
    alone.close()
    assert (embedder.embed_passages(texts).vectors == one_by_one).all()
    assert (embedder.embed_passages(texts[::-1]).vectors[::-1] == one_by_one).all()


def test_a_long_text_is_the_mean_of_its_windows(embedder: E5Embedder, wheel: LocalEmbedder) -> None:
    text = "海水淡化装置的膜元件每两年更换一次，由值班员登记。" * 30
    ours, theirs = embedder.embed_passages([text]), wheel.embed_passages([text])
    assert ours.tokens > 512 < theirs.tokens
    assert float(ours.vectors[0] @ theirs.vectors[0]) > 0.9985


def test_the_version_is_its_own(embedder: E5Embedder, wheel: LocalEmbedder) -> None:
    assert embedder.version != wheel.version
    assert embedder.version.startswith("local:multilingual-e5-small-int8:384:")


def test_the_platform_has_what_it_needs(tokens: Tokens) -> None:
    assert runs_here()
    assert tokens.encode("电费") != []


def test_loading_the_model_leaves_no_trace_in_home_or_temporary_folder(tmp_path: Path) -> None:
    code = "from shared.embeddings.e5.embedder import E5Embedder; E5Embedder(threads=1).warm_up()"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=100)
    assert list(tmp_path.rglob("*")) == []
