"""The contract suite: every installed variant does what the contract says and what it declares."""
