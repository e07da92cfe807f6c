#!/bin/sh
# Shows and sets the workflow context of a worktree; see: svc context --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" context "$@"
