"""The checks themselves: each raises ``AssertionError`` for an adapter that breaks the contract.

They are functions of a subject, so that ``test_faults.py`` can plant faults and see each check fail.
"""
