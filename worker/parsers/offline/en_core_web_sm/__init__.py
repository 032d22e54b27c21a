"""Stands in for spaCy's English model, which unstructured would download on first use.

A blank pipeline with a sentencizer: unstructured then tells narrative from other text by its other rules, and nothing else changes.
Only the parser child has this folder on its path.
"""

import spacy

__version__ = "3.8.0"


def load(**_overrides):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return pipeline
