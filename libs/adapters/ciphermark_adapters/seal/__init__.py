"""Microsoft SEAL through a native module of our own: variants ``seal`` and ``seal-hexl``."""
