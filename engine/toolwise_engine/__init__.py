"""The embedded engine: trains and samples language models on this machine. Knows tokens and tensors only."""

__version__ = "0.1.0"
