#!/bin/sh
# Makes the environment of one role in /opt/ciphermark from wheels alone: deploy/make-environment.sh ciphermark-client
#
# The build stage downloaded the wheels and checked them against the pinned hashes; nothing is fetched here.
set -eu

packages=lib/python3.12/site-packages
main=/opt/ciphermark/.venv
openfhe=/opt/ciphermark/.venv-openfhe # where the adapters look for it

python3 -m venv --without-pip "$main"
pip --python "$main/bin/python" install --no-index --no-cache-dir --find-links /wheels "$1" tenseal
cp -a .venv/$packages/Pyfhel .venv/$packages/pyfhel-* .venv/$packages/_ciphermark_* "$main/$packages/"

# OpenFHE lives apart from the others, as it must where its Python is another one; here it shares their packages.
python3 -m venv --without-pip "$openfhe"
pip --python "$openfhe/bin/python" install --no-index --no-cache-dir --no-deps --find-links /wheels-openfhe openfhe
echo "$main/$packages" >"$openfhe/$packages/ciphermark.pth"

# Every library loads.
for variant in seal pyfhel tenseal; do "$main/bin/python" -m ciphermark_measure.describe "$variant" >/dev/null; done
"$openfhe/bin/python" -m ciphermark_measure.describe openfhe >/dev/null
