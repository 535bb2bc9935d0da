# shellcheck shell=bash
# install_packages PACKAGE...: installs packages of Debian.
install_packages() {
    local sudo=()
    if ((EUID != 0)); then sudo=(sudo); fi
    echo "installing: $*"
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends \
        "$@" > /dev/null
}

# install_missing NEED...: installs the packages of Debian that are missing. A need is `command:package` or
# `/file:package`.
install_missing() {
    local need thing missing=()
    for need; do
        thing=${need%:*}
        if [[ $thing == /* ]]; then [[ -e $thing ]] || missing+=("${need##*:}")
        else command -v "$thing" > /dev/null || missing+=("${need##*:}"); fi
    done
    if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
}
