"""A program for a test: attempts at a job, each interrupted so many seconds after its process was there; prints how
each ended. ``interrupted_attempts.py HOME DATABASE_URL JOB_ID SECONDS…``
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ciphermark_benchmark.home import Home
from ciphermark_benchmark.jobs.attempts import Attempts
from ciphermark_benchmark.jobs.decisions import Claim


async def main() -> None:
    folder, url, job_id, *moments = sys.argv[1:]
    attempts = Attempts()
    for moment in moments:
        attempt = attempts.start(Home(Path(folder), url), Claim(job_id, 0))
        await asyncio.sleep(float(moment))
        print((await attempt.interrupt()).how)


if __name__ == "__main__":
    asyncio.run(main())
