# shellcheck shell=bash
# Directories of runs, run-PID below one place, with mounts in them.

# Takes away the mounts below a directory; fails when one remains.
unmount_below() {
    local mount
    # The last mounted first: one may stand on another.
    while read -r mount; do
        fusermount3 -uqz "$mount" 2>/dev/null || umount -l "$mount" 2>/dev/null || true
    done < <(awk -v run="$1/" 'index($5, run) == 1 { print $5 }' /proc/self/mountinfo | tac)
    awk -v run="$1/" 'index($5, run) == 1 { found = 1 } END { exit found }' /proc/self/mountinfo
}

# Takes away a run; never deletes through a mount that remains.
clean() {
    if unmount_below "$1"; then rm -rf --one-file-system "$1"; fi
}

# Takes away the runs of a place whose process is gone: one that was killed could not clean up.
clean_old() {
    local old
    for old in "$1"/run-*; do
        if [[ -d $old && ! -d /proc/${old##*-} ]]; then clean "$old"; fi
    done
}
