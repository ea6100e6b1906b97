#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Help, pages for man and completion come from the same tables: what one of them has, the others have. Run by ctest with the path
# of `ritz` as argument, beside which ritz-bench lies; prints TAP.
# shellcheck source=tests/cli-kit.sh
source "$(dirname "$0")/cli-kit.sh"
# shellcheck source=cli/completion/ritz.bash
source cli/completion/ritz.bash
unset RITZ_PATCH_BLOCK
touch "$folder/out" "$folder/err"

# offered WORD..: what bash offers for the last word, sorted.
offered() {
  COMP_WORDS=("$ritz" "$@") COMP_CWORD=$#
  _ritz
  printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}

# same SENTENCE FILE FILE
same() {
  diff "$2" "$3" | sed 's/^/# /'
  cmp -s "$2" "$3" && [[ -s $2 ]]
  report $((1 - $?)) "$1"
}

# Options in the help of a command, sorted.
options() { "$ritz" "$@" --help | grep -oE '^  --[a-z0-9-]+' | tr -d ' ' | LC_ALL=C sort; }

"$ritz" help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -v '^ritz$' | LC_ALL=C sort >"$folder/commands"
offered "" | grep -v '^-' >"$folder/offered"
same "commands are those of the help" "$folder/commands" "$folder/offered"
"$ritz" --man >"$folder/ritz.1"
"$ritz-bench" --man >"$folder/ritz-bench.1"
for command in $(grep -vx help "$folder/commands") "bench --multigrid" "bench --batched" "bench --routes"; do
  # shellcheck disable=SC2086 # words
  options $command >"$folder/wanted"
  # shellcheck disable=SC2086
  offered $command -- >"$folder/offered"
  same "options of $command are those of its help" "$folder/wanted" "$folder/offered"
  page=$folder/ritz.1
  [[ $command != bench* ]] || page=$folder/ritz-bench.1
  tr -d '\\' <"$page" | sed -n "/^\.SS ritz $command\( [^-][^ ]*\)\{0,1\} \[options\]\$/,/^\.S[SH]/s/^fB\(--[a-z0-9-]*\)fR.*/\1/p" |
    LC_ALL=C sort >"$folder/printed"
  same "options of $command are in the page for man" "$folder/wanted" "$folder/printed"
done

check() { # SENTENCE WANTED WORD..
  local sentence=$1 wanted=$2
  shift 2
  offered "$@" | tr '\n' ' ' >"$folder/out"
  [[ $(cat "$folder/out") == "$wanted " ]]
  report $((1 - $?)) "$sentence"
}
check "a command is completed" "solve" so
check "values of an option are its words" "f full v w" solve box:8 --cycle ""
check "and behind an equals sign" "full" solve --cycle = fu
check "as soon as it stands there" "f full v w" solve --cycle =
check "and of a shell that breaks no word there" "--cycle=full" solve box:8 --cycle=fu
check "resources are those that are usable" "/cpu/self/check /cpu/self/gen /cpu/self/ref" solve --ceed /cpu
check "operands that are words are offered" "warm" cache w
check "topics of help are offered" "environment explain" help e
check "files are left to the shell" "" solve ""

"$ritz" help environment | sed -n 's/^  \([A-Za-z_]*\)=.*/\1/p' | LC_ALL=C sort >"$folder/wanted"
sed -n '/^\.SH ENVIRONMENT/,/^\.SH EXIT/s/^\\fB\([A-Za-z_]*\)\\fR=.*/\1/p' "$folder/ritz.1" | LC_ALL=C sort >"$folder/printed"
same "variables are in the page for man" "$folder/wanted" "$folder/printed"
RITZ_PATCH_BLOCK=3,1 prints "values of variables are shown" 0 out '^ +now: 3,1$' help environment
prints "options of resources have help" 0 out '^  :threads=N' help resources
prints "help of a command is its --help" 0 out '^usage: ritz solve MESH' help solve
prints "of a benchmark, too" 0 out '^usage: ritz bench --multigrid' help bench --multigrid
wrong "a topic that there is not" "ritz: unknown topic 'enviroment' (did you mean environment?)" help enviroment
for section in NAME SYNOPSIS DESCRIPTION OPTIONS RESOURCES ENVIRONMENT "EXIT STATUS" EXAMPLES "SEE ALSO"; do
  grep -qx "\.SH $section" "$folder/ritz.1" && grep -qx "\.SH $section" "$folder/ritz-bench.1"
  report $((1 - $?)) "pages for man have $section"
done
if command -v groff >/dev/null; then
  groff -ww -man -Tutf8 "$folder/ritz.1" "$folder/ritz-bench.1" 2>"$folder/err" >"$folder/out"
  [[ ! -s $folder/err && -s $folder/out ]]
  report $((1 - $?)) "groff has no warning"
fi

end
