#!/usr/bin/env bash
# Build the learners' image from environment.yml: deploy/jupyterhub/build.sh REGISTRY/once  (needs Docker, repo2docker).
# It holds the last commit, whose number is its tag, in /srv/once: the hub lays each learner's volume over the home.
set -euo pipefail
name="${1:?usage: deploy/jupyterhub/build.sh REGISTRY/NAME}"
course="$(cd "$(dirname "$0")/../.." && pwd)"
clean="$(mktemp -d)"
trap 'rm -rf "$clean"' EXIT
git clone --quiet "$course" "$clean/once"
repo2docker --no-run --user-id 1000 --user-name jovyan --target-repo-dir /srv/once \
    --appendix "RUN python -m pip install --no-cache-dir nbgitpuller==1.3.0" \
    --image-name "${name}:$(git -C "$course" rev-parse --short HEAD)" "${@:2}" "$clean/once"
