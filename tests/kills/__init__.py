"""Random processes of `make serve` are killed under load: nothing is lost, nothing doubled, all of it answers again.

    PYTHONPATH=tests .venv/bin/python -m kills --kills 50

What lost and doubled mean is in :mod:`tests.kills.ledger`.
"""
