"""OpenFHE 1.6 through its Python wrapper ``openfhe``, in an interpreter of its own."""
