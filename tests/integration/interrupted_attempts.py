"""A program for a test: attempts at a job, each interrupted so many seconds after its process was there; prints how
each ended. ``interrupted_attempts.py DATA_DIRECTORY DATABASE_URL JOB_ID SECONDS…``
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.jobs.attempts import Attempts
from ciphermark_benchmark.jobs.decisions import Claim


async def main() -> None:
    folder, url, job_id, *moments = sys.argv[1:]
    attempts = Attempts()
    for moment in moments:
        attempt = attempts.start(DataDirectory(Path(folder), url), Claim(job_id, 0))
        await asyncio.sleep(float(moment))
        print((await attempt.interrupt()).how)


if __name__ == "__main__":
    asyncio.run(main())
