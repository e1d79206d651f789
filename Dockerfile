# The images of client, server, benchmark and dashboard. The libraries are built once, for every x86-64 CPU, or
# every one with the features of the variant's declaration. Each image holds only what its role needs, without build tools.

# The base of every stage. For reproducible builds, pin it by digest: python:3.12-slim-trixie@sha256:…
ARG PYTHON_IMAGE=python:3.12-slim-trixie

# The recipes' inputs, without the adapters' other files: a change elsewhere in an adapter keeps the layers that compile
# libraries. Each folder is a library; this file names none.
FROM ${PYTHON_IMAGE} AS recipes
WORKDIR /adapters
COPY libs/adapters/ciphermark_adapters .
RUN mkdir /recipes /native \
    && cp --recursive --parents __init__.py added.py binaries.py provenance.py \
        [!_]*/recipe.py [!_]*/installation.py [!_]*/requirements.txt [!_]*/check /recipes \
    && cp --recursive --parents native_common */native /native

FROM ${PYTHON_IMAGE} AS build
WORKDIR /ciphermark
ENV CIPHERMARK_PORTABLE=1
ENV ADAPTERS=libs/adapters/ciphermark_adapters
COPY setup setup
COPY --from=recipes /recipes ${ADAPTERS}
RUN python3 setup/install.py --only system
RUN pip download --require-hashes --only-binary=:all: --dest /wheels --requirement setup/requirements.txt
RUN PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_NO_COMPILE=1 python3 setup/install.py --only python \
    && ls .venv/lib/python3*/site-packages >.build/pinned
RUN python3 setup/install.py --only sources
RUN python3 setup/install.py --libraries
COPY --from=recipes /native ${ADAPTERS}
RUN python3 setup/install.py --libraries
COPY dashboards dashboards
COPY db db
COPY libs libs
COPY services services
RUN python3 setup/install.py --only reference-kernel fonts
RUN .venv/bin/python -m pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheels \
        ./dashboards ./db ./libs/* ./services/*
COPY deploy/make_environment.py deploy/

# The base of all final images. Volumes mounted on these folders inherit their owner.
FROM ${PYTHON_IMAGE} AS runtime
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 ciphermark \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent ciphermark \
    && install --directory --owner ciphermark --group ciphermark --mode 0750 \
        /var/lib/ciphermark /var/lib/ciphermark/blobs /var/lib/ciphermark/data /var/lib/ciphermark/private \
        /run/ciphermark /run/ciphermark/benchmark /run/ciphermark/client /run/ciphermark/dashboard /run/ciphermark/db /run/ciphermark/server
ENV PATH=/opt/ciphermark/.venv/bin:$PATH PYTHONUNBUFFERED=1
WORKDIR /opt/ciphermark

# What the build stage made is mounted, not copied: an environment is one layer, where it is installed.
FROM runtime AS client
RUN --mount=from=build,source=/ciphermark,target=/ciphermark --mount=from=build,source=/wheels,target=/wheels \
    python3 /ciphermark/deploy/make_environment.py ciphermark-client
USER ciphermark
ENTRYPOINT ["ciphermark-client"]

FROM runtime AS server
RUN --mount=from=build,source=/ciphermark,target=/ciphermark --mount=from=build,source=/wheels,target=/wheels \
    python3 /ciphermark/deploy/make_environment.py ciphermark-server
USER ciphermark
ENTRYPOINT ["ciphermark-server"]

FROM runtime AS dashboard
RUN --mount=from=build,source=/wheels,target=/wheels \
    python3 -m venv --without-pip .venv \
    && pip --python .venv/bin/python install --no-index --no-cache-dir --find-links /wheels ciphermark-dashboards
USER ciphermark
ENTRYPOINT ["ciphermark-dashboard"]

FROM runtime AS proxy
RUN apt-get update \
    && apt-get install --yes --no-install-recommends caddy \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner ciphermark --group ciphermark --mode 0750 /var/lib/ciphermark/proxy
COPY deploy/Caddyfile /etc/caddy/Caddyfile
USER ciphermark
ENTRYPOINT ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]

FROM runtime AS benchmark
RUN --mount=from=build,source=/ciphermark,target=/ciphermark --mount=from=build,source=/wheels,target=/wheels \
    python3 /ciphermark/deploy/make_environment.py ciphermark-benchmark
USER ciphermark
ENTRYPOINT ["ciphermark"]
