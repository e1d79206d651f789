"""Trained networks, the images that they are tried on, and the program that trained them: see PROVENANCE.md."""
