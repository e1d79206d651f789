"""Microsoft SEAL through our native module: variants ``seal`` and ``seal-hexl``."""
