"""Builds of the user's own: added, made anew, removed; and searched for the one where a case became slower."""
