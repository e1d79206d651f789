"""``python -m ciphermark_benchmark.cli``: the command line where its script is not on the path."""

from ciphermark_benchmark.cli.main import main

if __name__ == "__main__":
    main()
