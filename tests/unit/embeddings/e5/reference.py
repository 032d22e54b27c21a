"""Unigram segmentation in plain Python, written from its definition, to hold the library against."""

import re

from shared.embeddings.e5.weights import Weights


class Viterbi:
    """The segmentation with the highest sum of scores; a character outside the vocabulary costs ten more than the worst piece."""

    def __init__(self, weights: Weights) -> None:
        special = {weights.bos, weights.eos, weights.pad, weights.unk}
        self._pieces = {
            piece.decode(): (place, score)
            for place, (piece, score) in enumerate(weights.vocabulary())
            if place not in special and piece not in (b"", b"<mask>")
        }
        self._unknown = (weights.unk, min(score for _, score in self._pieces.values()) - 10)
        self._longest = max(map(len, self._pieces))
        self._folding = weights.folding

    def encode(self, text: str) -> list[int]:
        text = re.sub(" +", " ", text.translate(self._folding))
        text = (text if text.startswith(" ") else " " + text).replace(" ", "\u2581")
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # score, where the last piece begins, its id
        for end in range(1, len(text) + 1):
            options = [
                (best[start][0] + score, start, place)
                for start in range(max(end - self._longest, 0), end)
                for place, score in [self._pieces.get(text[start:end], self._unknown)]
                if place != self._unknown[0] or end - start == 1
            ]
            best.append(max(options))
        ids: list[int] = []
        end = len(text)
        while end:
            _, start, place = best[end]
            if not (ids and ids[-1] == place == self._unknown[0]):  # a run of unknown characters is one token
                ids.append(place)
            end = start
        return ids[::-1]
