"""The embedded engine: trains and samples token sequences behind an HTTP API. Knows tokens and tensors; no chat, tools or rewards."""

__version__ = "0.1.0"
