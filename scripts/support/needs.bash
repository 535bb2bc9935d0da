# shellcheck shell=bash
# install_missing NEED...: installs the packages of Debian that are missing. A need is `command:package` or
# `/file:package`.
install_missing() {
    local need thing missing=() sudo=()
    for need; do
        thing=${need%:*}
        if [[ $thing == /* ]]; then [[ -e $thing ]] || missing+=("${need##*:}")
        else command -v "$thing" > /dev/null || missing+=("${need##*:}"); fi
    done
    if ((${#missing[@]} == 0)); then return; fi
    if ((EUID != 0)); then sudo=(sudo); fi
    echo "installing: ${missing[*]}"
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" > /dev/null
}
