"""OpenFHE 1.6 through its Python wrapper ``openfhe``, in a separate interpreter."""
