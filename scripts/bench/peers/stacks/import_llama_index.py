"""LlamaIndex as its documentation imports: IngestionPipeline into a vector store and a docstore, BM25 beside them, all persisted."""

import httpx
import importing
from llama_index.core import Document
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.retrievers.bm25 import BM25Retriever


class _Embedding(BaseEmbedding):
    """The provider's, over one kept connection: less than the clients that are sold for it."""

    http: httpx.Client
    base_url: str

    model_config = {"arbitrary_types_allowed": True}

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        body = {"model": importing.MODEL, "input": texts, "dimensions": importing.DIMENSIONS}
        reply = self.http.post(f"{self.base_url}/embeddings", json=body).raise_for_status().json()
        return [one["embedding"] for one in sorted(reply["data"], key=lambda one: one["index"])]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def run(task: importing.Task) -> int:
    embedding = _Embedding(
        http=httpx.Client(trust_env=False, timeout=60), base_url=task.base_url, embed_batch_size=importing.BATCH
    )
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=task.block_tokens, chunk_overlap=0), embedding],
        docstore=SimpleDocumentStore(),
        vector_store=SimpleVectorStore(),
    )
    documents = [
        Document(text=path.read_text(encoding="utf-8"), metadata={"file_name": path.name}, id_=str(path))
        for path in task.documents
    ]
    nodes = pipeline.run(documents=documents)
    pipeline.persist(str(task.out / "pipeline"))
    pipeline.vector_store.persist(str(task.out / "vectors.json"))
    BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=20).persist(str(task.out / "bm25"))
    return len(nodes)


if __name__ == "__main__":
    importing.main(run)
