"""The vocabulary of Ciphermark as types and pure functions. Imports no other package of the project."""
