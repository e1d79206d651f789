"""The template of an adapter: copy this folder and follow docs/adding-an-adapter.md."""
