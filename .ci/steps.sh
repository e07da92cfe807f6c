# shellcheck shell=bash
# What .ci/run and .ci/nightly share: how a step is run, counted and timed. Sourced by both, after `cd` to the root.

work=$(mktemp -d)
# Another user of a test may pass through it, and list nothing.
memory=$(mktemp -d /dev/shm/svc-ci-XXXXXX 2>/dev/null) && chmod 711 "$memory"
trap 'rm -rf "$work" "$memory"' EXIT
# A shared machine may be several times slower than the one that a test was written on.
export TEST_PATIENCE=${TEST_PATIENCE:-3}
# Compile scripts and test processes once, although they start from source many times.
export NODE_COMPILE_CACHE=$work/compiled
passed=0
failed=0
: >"$work/steps"
: >"$work/files"

# step NAME COMMAND…: runs one check. If it fails, its whole output is shown.
step() {
  local name=$1 started=$SECONDS
  verdict=ok
  shift
  "$@" >"$work/output" 2>&1 || verdict=FAIL
  if [ "$verdict" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  echo "$verdict $name ($((SECONDS - started)) s)"
  echo "$((SECONDS - started)) $name" >>"$work/steps"
  [ "$verdict" = ok ] || cat "$work/output"
}

# at_once FUNCTION…: runs functions of steps in parallel, each in its own process, so no core waits for the slowest. One
# that did not finish counts as failed.
at_once() {
  local part good bad
  for part in "$@"; do run_beside "$part" & done
  wait
  for part in "$@"; do
    cat "$work/$part/steps" >>"$work/steps"
    cat "$work/$part/files" >>"$work/files"
    good=0 bad=1
    [ ! -f "$work/$part/counts" ] || read -r good bad <"$work/$part/counts"
    passed=$((passed + good)) failed=$((failed + bad))
  done
}

run_beside() {
  local part=$1 work=$work/$1 passed=0 failed=0
  mkdir "$work"
  touch "$work/steps" "$work/files"
  "$part"
  echo "$passed $failed" >"$work/counts"
}

# figures NAME COMMAND…: a step whose output is always shown, because it contains measurements.
figures() {
  step "$@"
  if [ "$verdict" = ok ]; then cat "$work/output"; fi
}

# tests NAME [WORD…]: runs vitest on the build, with the first node in PATH. Every test counts. The output of a failing
# test is shown in full, that of a passing one is not.
tests() {
  local name=$1 started=$SECONDS temporary=${TMPDIR:-/tmp} code counts good bad
  shift
  rm -f "$work/tests.json"
  if can_hold_tests; then temporary=$memory; fi
  TMPDIR=$temporary NO_COLOR=1 TEST_BUILT=1 node node_modules/vitest/vitest.mjs run "$@" --silent=passed-only \
    --reporter=dot --reporter=json --outputFile.json="$work/tests.json" >"$work/output" 2>&1
  code=$?
  counts=$(node .ci/count-tests.ts "$work/tests.json" "$work/files" || echo '0 1')
  good=${counts% *} bad=${counts#* }
  if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  echo "tests $name: $good passed, $bad failed ($((SECONDS - started)) s)"
  echo "$((SECONDS - started)) tests $name" >>"$work/steps"
  [ "$bad" -eq 0 ] || cat "$work/output"
}

# Whether the tests can put their many small files into memory: 2 GB must be free there, and programs must be allowed to
# run from it.
can_hold_tests() {
  [ -n "$memory" ] && [ "$(df -k --output=avail "$memory" | tail -n 1)" -gt 2000000 ] &&
    cp /bin/sh "$memory/sh" && "$memory/sh" -c true
}

need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

install_everything() {
  step 'system packages' need_packages git shellcheck gh openssl prometheus chromium-headless-shell curl jq zsh fish
  at_once install_nats install_packages
  export PATH=$PWD/node_modules/.bin:$PATH
  echo "node $(node --version), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
  fixed_before=$(node .ci/fixed-computation.ts)
}

install_nats() {
  figures 'nats-server' .ci/nats-server
}

install_packages() {
  step 'install' npm ci --no-audit --no-fund
}

install_portable() {
  install_packages
  export PATH=$PWD/node_modules/.bin:$PATH
  rm -f node_modules/.bin/node
  echo "node $(node --version), $(uname -s)"
  fixed_before=$(node .ci/fixed-computation.ts)
}

# The last lines: the slowest steps, the time, also compared with a fixed computation before and after the steps, and the
# count. The ratio can be compared between machines and loads.
finish() {
  local seconds=$SECONDS fixed_after fixed
  echo 'slowest steps:'
  sort -rn "$work/steps" | head -n 10 | sed -E 's/^([0-9]+) /  \1 s  /'
  echo 'slowest test files:'
  sort -rn "$work/files" | head -n 10 | sed -E 's/^([0-9.]+) /  \1 s  /'
  fixed_after=$(node .ci/fixed-computation.ts)
  fixed=$((${fixed_before:-0} + ${fixed_after:-0}))
  # Without Node, which is a failed step, there is nothing to compare with.
  if [ "$fixed" -gt 0 ]; then
    echo "the fixed computation took $fixed_before ms before and $fixed_after ms after"
    echo "in all $seconds s, $((seconds * 2000 / fixed)) times the fixed computation"
  else
    echo "in all $seconds s"
  fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
