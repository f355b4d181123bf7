"""Retrievers as an application has them, made with the real frameworks over a few passages of
pages.
"""

PASSAGES = [
    ("p1", "shoes", "red running shoes with a soft sole"),
    ("p2", "shoes", "running shoes for trails, red laces"),
    ("p3", "boots", "brown leather boots, red lining"),
    ("p4", "socks", "blue cotton socks"),
]


def langchain() -> object:
    """Retriever of LangChain with a word count as its score."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Shared(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            asked = set(query.split())
            scored = [
                (len(asked & set(text.replace(",", "").split())), -place)
                for place, (_, _, text) in enumerate(PASSAGES)
            ]
            order = sorted(range(len(PASSAGES)), key=lambda place: scored[place], reverse=True)
            best = [PASSAGES[place] for place in order if scored[place][0]]
            return [
                Document(id=one, page_content=text, metadata={"page": page})
                for one, page, text in best
            ]

    return Shared()


def langchain_vectors() -> object:
    """Vector store of LangChain in memory, as a retriever."""
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=32))
    store.add_documents(
        [
            Document(id=one, page_content=text, metadata={"page": page})
            for one, page, text in PASSAGES
        ]
    )
    return store.as_retriever(search_kwargs={"k": 4})


def llama_index() -> object:
    """Retriever of LlamaIndex over a vector index in memory."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    nodes = [
        TextNode(
            id_=one,
            text=text,
            metadata={"page": page},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc-{page}")},
        )
        for one, page, text in PASSAGES
    ]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8)).as_retriever(
        similarity_top_k=4
    )


def haystack() -> object:
    """BM25 retriever of Haystack over its store in memory."""
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [Document(id=one, content=text, meta={"page": page}) for one, page, text in PASSAGES]
    )
    return InMemoryBM25Retriever(store)


def haystack_vectors() -> object:
    """Retriever of Haystack by embeddings."""
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=f"d{place}", content="a", embedding=[1.0, place / 4, 0.0])
            for place in range(4)
        ]
    )
    return InMemoryEmbeddingRetriever(store)


NOT_A_RETRIEVER = 7
