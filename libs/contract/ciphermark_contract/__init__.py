"""What every library is driven through: operations, interfaces, programs, and their meaning in the clear.

No library is named here.
"""
