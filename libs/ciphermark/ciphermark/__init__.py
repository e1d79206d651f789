"""The Python interface of Ciphermark: write a computation, run a suite, predict costs, ask for advice."""

from ciphermark_circuits.expressions import dot, greater, matvec, rotate, sign
from ciphermark_workloads.computation import computation, integers, reals

__all__ = ["computation", "dot", "greater", "integers", "matvec", "reals", "rotate", "sign"]
