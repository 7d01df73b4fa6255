# A place where everything runs: `docker build -t black-maria .`, then
#   docker run --rm -it black-maria make train
#   docker run --rm -it black-maria make test
# .devcontainer/ opens it in an editor.
FROM python:3.11-slim

# make for the commands; git for what looks at the checkout; a browser for the tests of pages
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make git chromium chromium-driver \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /black-maria

# packages first: an edit of the code needs no new download
COPY pyproject.toml constraints.txt README.md LICENSE Makefile ./
COPY envs envs
COPY agents agents
RUN make .venv/installed

COPY . .
RUN touch .venv/installed
CMD ["make", "train"]
