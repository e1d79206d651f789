# The images of client, server, benchmark and dashboard. The libraries are built once, for every CPU of x86-64 (seal-hexl: every
# one with AVX-512); each image holds what its role needs and nothing that builds.

FROM python:3.12-slim-trixie AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends cargo g++ libcpu-features-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /ciphermark
ENV CIPHERMARK_PORTABLE=1
ENV ADAPTERS=libs/adapters/ciphermark_adapters
COPY setup setup
COPY ${ADAPTERS}/__init__.py ${ADAPTERS}/added.py ${ADAPTERS}/binaries.py ${ADAPTERS}/provenance.py ${ADAPTERS}/
COPY ${ADAPTERS}/tenseal/requirements.txt ${ADAPTERS}/tenseal/
COPY ${ADAPTERS}/openfhe/requirements.txt ${ADAPTERS}/openfhe/
RUN pip download --require-hashes --only-binary=:all: --dest /wheels --requirement setup/requirements.txt \
    && pip download --require-hashes --only-binary=:all: --no-deps --dest /wheels \
        --requirement ${ADAPTERS}/tenseal/requirements.txt \
    && pip download --require-hashes --only-binary=:all: --no-deps --dest /wheels-openfhe \
        --requirement ${ADAPTERS}/openfhe/requirements.txt
RUN PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_NO_COMPILE=1 python3 setup/install.py --only python
RUN python3 setup/install.py --only sources
COPY ${ADAPTERS}/seal/recipe.py ${ADAPTERS}/seal/prefix.py ${ADAPTERS}/seal/
COPY ${ADAPTERS}/seal/check ${ADAPTERS}/seal/check
RUN python3 setup/install.py --only seal
RUN python3 setup/install.py --only seal-hexl
COPY ${ADAPTERS}/pyfhel/recipe.py ${ADAPTERS}/pyfhel/check.py ${ADAPTERS}/pyfhel/
RUN python3 setup/install.py --only pyfhel
COPY ${ADAPTERS}/native_common ${ADAPTERS}/native_common
COPY ${ADAPTERS}/seal/native ${ADAPTERS}/seal/native
RUN python3 setup/install.py --only native-seal native-seal-hexl
COPY dashboards dashboards
COPY db db
COPY libs libs
COPY services services
RUN python3 setup/install.py --only anchor
RUN .venv/bin/python -m pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheels \
        ./dashboards ./db ./libs/* ./services/*
COPY deploy/make-environment.sh deploy/

FROM build AS client-environment
RUN deploy/make-environment.sh ciphermark-client

FROM build AS server-environment
RUN deploy/make-environment.sh ciphermark-server

FROM build AS benchmark-environment
RUN deploy/make-environment.sh ciphermark-benchmark

FROM build AS dashboard-environment
RUN python3 -m venv --without-pip /opt/ciphermark/.venv \
    && pip --python /opt/ciphermark/.venv/bin/python install --no-index --no-cache-dir --find-links /wheels \
        ciphermark-dashboards

# What all images run on. Volumes that are mounted on these folders take their owner.
FROM python:3.12-slim-trixie AS runtime
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
USER ciphermark

FROM runtime AS client
COPY --from=client-environment /opt/ciphermark .
ENTRYPOINT ["ciphermark-client"]

FROM runtime AS server
COPY --from=server-environment /opt/ciphermark .
ENTRYPOINT ["ciphermark-server"]

FROM runtime AS dashboard
COPY --from=dashboard-environment /opt/ciphermark .
ENTRYPOINT ["ciphermark-dashboard"]

FROM runtime AS benchmark
COPY --from=benchmark-environment /opt/ciphermark .
ENTRYPOINT ["ciphermark"]
