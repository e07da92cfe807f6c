#!/bin/sh
# Checks that a project is ready for a run; see: svc check-project-setup --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" check-project-setup "$@"
