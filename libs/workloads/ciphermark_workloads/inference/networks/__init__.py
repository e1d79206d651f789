"""Trained networks, their test images, and the program that trained them: see PROVENANCE.md."""
