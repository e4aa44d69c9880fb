"""What `ASTJIT_LOG` asks for: astjit's own loggers, one a topic, printed as they happen.

    ASTJIT_LOG=segments,fusion python train.py     two topics
    ASTJIT_LOG=info            python train.py     all of them

A topic is the logger `astjit.TOPIC` of the standard library; a program that configures logging
itself needs no environment variable.
"""

import logging
import warnings

from astjit.errors import AstjitWarning

TOPICS = {
    "segments": "each program made, each function that runs eagerly, and why",
    "guards": "each call that no program fits: which guard failed",
    "fusion": "the parts of each program, and what is not fused, and why",
    "build": "each text that is compiled or found on disk, and how long that took",
}


def follow(asked: str) -> None:
    """Print what the words of ASTJIT_LOG ask for; one warning names those that mean nothing.

    Args:
        asked: topics and a level such as "debug", separated by commas; a level alone is for all.
    """
    words = [word.strip().lower() for word in asked.split(",") if word.strip()]
    levels = logging.getLevelNamesMapping()
    topics = [word for word in words if word in TOPICS]
    level = next((levels[word.upper()] for word in words if word.upper() in levels), logging.INFO)
    unknown = [word for word in words if word not in topics and word.upper() not in levels]
    if unknown:
        told = f"ASTJIT_LOG={asked}: no topic {unknown[0]!r}; there are {', '.join(TOPICS)}"
        warnings.warn(AstjitWarning(told), stacklevel=2)
    if len(unknown) < len(words):
        logging.basicConfig(format="%(name)s: %(message)s")
        for name in topics or [""]:
            logging.getLogger(f"astjit.{name}".rstrip(".")).setLevel(level)
