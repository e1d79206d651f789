"""SEAL whose key owner writes its secret key to a file, for tests that look for it elsewhere."""
