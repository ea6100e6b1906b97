# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# What tests of the `ritz` program have in common: its path, a folder, lines of TAP. Sourced by test-cli*.sh, whose argument (or
# RITZ_PROGRAM) is the path.
set -u

ritz=${1:-${RITZ_PROGRAM:-}}
if [[ ! -x $ritz ]]; then
  echo "usage: $0 PATH-OF-RITZ" >&2
  exit 2
fi
ritz=$(realpath "$ritz")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
number=0 failed=0 status=0 since=$SECONDS

# report OK SENTENCE: one line of TAP, with what the last command printed when it is not ok, after the seconds if they are many.
report() {
  number=$((number + 1))
  if ((SECONDS - since > 1)); then echo "# $((SECONDS - since)) s"; fi
  since=$SECONDS
  if [[ $1 == 1 ]]; then
    echo "ok $number - $2"
    return
  fi
  failed=$((failed + 1))
  echo "not ok $number - $2"
  sed 's/^/#   stdout: /' "$folder/out" | head -30
  sed 's/^/#   stderr: /' "$folder/err" | head -30
}

# run ARGUMENTS...: output in the files out and err, exit status in $status.
run() {
  "$ritz" "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
}

# wrong SENTENCE MESSAGE ARGUMENTS...: exit code 2, nothing on stdout, and the message is the first line of stderr.
wrong() {
  local sentence=$1 message=$2 ok=0
  shift 2
  run "$@"
  if [[ $status == 2 && ! -s $folder/out && $(head -1 "$folder/err") == "$message" ]]; then ok=1; fi
  if [[ $ok == 0 ]]; then echo "# wanted 2 and: $message"; echo "# found $status and: $(head -1 "$folder/err")"; fi
  report $ok "$sentence"
}

# prints SENTENCE CODE STREAM PATTERN ARGUMENTS...: exit code, and a line of the stream matches.
prints() {
  local sentence=$1 code=$2 stream=$3 pattern=$4 ok=0
  shift 4
  run "$@"
  if [[ $status == "$code" ]] && grep -Eq -- "$pattern" "$folder/$stream"; then ok=1; fi
  if [[ $ok == 0 ]]; then echo "# wanted $code and on $stream: $pattern"; echo "# found $status"; fi
  report $ok "$sentence"
}

# end: the plan of TAP; its status is that of the test.
end() {
  echo "1..$number"
  [[ $failed == 0 ]]
}
