"""Chinese words with what part of speech a dictionary takes them for: names of persons, places and bodies have no capital letter."""

import rjieba

PERSON, PLACE, BODY, PROPER = "nr", "ns", "nt", "nz"  # what the tags of names begin with


def tagged(text: str) -> list[tuple[str, str]]:
    """The words of `text`, simplified, in order, each with its tag; n.. is a noun, v.. a verb, x anything that is no word.

    A guess of a dictionary: it knows no name for certain, and takes some words (之日起) for names.
    """
    return rjieba.tag(text)
