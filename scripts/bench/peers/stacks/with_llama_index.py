"""LlamaIndex as its documentation combines it: SentenceSplitter, VectorStoreIndex and BM25Retriever under QueryFusionRetriever."""

from collections.abc import Iterator

import exchange
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, TextNode
from llama_index.retrievers.bm25 import BM25Retriever


class _Embedding(BaseEmbedding):
    """Looks up what the bench embedded."""

    task: exchange.Task

    model_config = {"arbitrary_types_allowed": True}

    def _get_text_embedding(self, text: str) -> list[float]:
        return self.task.embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.task.embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self.task.embed(query)


def split(documents: list[dict[str, str]], block_tokens: int) -> Iterator[dict[str, str]]:
    splitter = SentenceSplitter(chunk_size=block_tokens, chunk_overlap=0)
    for document in documents:
        whole = Document(text=document["text"], metadata={"file_name": document["name"]}, id_=document["name"])
        for number, node in enumerate(splitter.get_nodes_from_documents([whole])):
            yield {
                "id": f"{document['name']}#{number}",
                "doc": document["name"],
                "text": node.get_content(metadata_mode=MetadataMode.NONE),
                "embedded": node.get_content(metadata_mode=MetadataMode.EMBED),
            }


def build(task: exchange.Task) -> exchange.Ask:
    nodes = [
        TextNode(id_=block["id"], text=block["text"], metadata={"file_name": block["doc"]}) for block in task.blocks
    ]
    index = VectorStoreIndex(nodes, embed_model=_Embedding(task=task))
    options = {"token_pattern": exchange.HAN_PATTERN} if task.han else {}
    keyword = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=exchange.DEPTH, **options)
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=exchange.DEPTH), keyword],
        llm=MockLLM(),
        similarity_top_k=exchange.DEPTH,
        num_queries=1,  # no questions made up by a model
        mode="reciprocal_rerank",
        use_async=False,
    )
    return lambda question: [found.node.node_id for found in fusion.retrieve(question)]


if __name__ == "__main__":
    exchange.main(split, build)
