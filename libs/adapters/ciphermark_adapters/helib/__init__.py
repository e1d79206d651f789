"""HElib through a native module of our own, built against an installed HElib: variant ``helib``."""
