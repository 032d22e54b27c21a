"""What a search bought, told as soon as it is bought: what fails after that has cost it too."""


class Tally:
    def __init__(self) -> None:
        self.embedding_tokens = 0  # by the provider's count
        self.rerank_tokens = 0
