# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Completion of `ritz` and `ritz-bench` in bash: the program itself says what the last word may become; where it says nothing,
# the word is a file. Installed as share/bash-completion/completions/ritz and ritz-bench.

_ritz() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _ritz ritz ritz-bench
