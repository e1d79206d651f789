"""Programs that bootstrap: their depth has no bound. Each agrees with the same polynomials in the clear."""
