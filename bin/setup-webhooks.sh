#!/bin/sh
# Relay channel, secret and hooks; see: svc setup-webhooks --help
exec "$(dirname -- "$(readlink -f -- "$0")")/svc" setup-webhooks "$@"
