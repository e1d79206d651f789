"""The words of Ciphermark as types and pure functions. Imports nothing else of the project."""
