"""An adapter whose variants each misbehave in one way; everything else is ``cleartext``."""
