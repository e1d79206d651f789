"""The interface to every library: operations, interfaces, programs, and their meaning on plain vectors.

It names no library.
"""
