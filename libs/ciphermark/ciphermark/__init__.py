"""The Python interface of Ciphermark: write a computation, run a suite, predict costs, ask for advice."""
