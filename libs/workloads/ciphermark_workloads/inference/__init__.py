"""The family ``inference``: classes of encrypted images by small neural networks."""
