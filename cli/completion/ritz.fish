# SPDX-License-Identifier: BSD-2-Clause
# Completion of `ritz` and `ritz-bench` in fish: the program itself says what the last word may become; files are offered, too.
# Installed in share/fish/vendor_completions.d as ritz.fish and ritz-bench.fish.

function __ritz_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    $program --complete $words (commandline -ct) 2>/dev/null
end
complete -c ritz -a '(__ritz_complete)'
complete -c ritz-bench -a '(__ritz_complete)'
