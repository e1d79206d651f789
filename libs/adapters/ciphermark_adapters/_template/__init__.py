"""Template behind the contract. REPLACE: one line on what the library is and how it is driven."""
