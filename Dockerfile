# `docker build --tag idealrank .` in a checkout; then
#   docker run --rm --publish 127.0.0.1:8765:8765 --env IDEALRANK_TOKEN=... --volume ./results:/data/store idealrank
# shows the store in ./results. Any other command of idealrank may follow the name of the image.
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml CMakeLists.txt README.md LICENSE /source/
COPY src /source/src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/idealrank-*.whl)[monitor,search,web]" && rm -r /wheels
RUN useradd --create-home idealrank && mkdir --parents /data/store && chown --recursive idealrank /data
USER idealrank
WORKDIR /data
VOLUME /data/store
EXPOSE 8765
ENTRYPOINT ["idealrank"]
CMD ["serve", "--store", "/data/store", "--host", "0.0.0.0", "--port", "8765"]
