"""How fast and how large the emulated account is, beside a peer on the same machine: ``python -m benchmarks``."""
