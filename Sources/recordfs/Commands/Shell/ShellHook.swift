/// The code that a shell runs before each prompt. It prints the saves that were refused since the
/// last prompt, and starts no process for it.
enum ShellHook: String, CaseIterable {
    case bash, zsh, fish

    func script(file: String) -> String {
        let quoted = "'" + file.replacing("'", with: "'\\''") + "'"
        switch self {
        case .bash: return Self.common(quoted) + Self.bashPrompt
        case .zsh: return Self.common(quoted) + Self.zshPrompt
        case .fish: return Self.fishScript(quoted)
        }
    }

    /// Returns the part for bash and zsh. The file stays open at the end of the part that was
    /// shown.
    private static func common(_ file: String) -> String {
        """
        # recordfs hook: names refused saves before the next prompt.
        __recordfs_file=\(file)
        __recordfs_open() {
            [ -n "$__recordfs_fd" ] && exec {__recordfs_fd}<&-
            __recordfs_fd=
            [ -r "$__recordfs_file" ] || return 0
            exec {__recordfs_fd}<"$__recordfs_file"
        }
        __recordfs_tell() {
            local kind place reason shown= one i=0
            local -a places reasons p r
            places=() reasons=()
            if [ -z "$__recordfs_fd" ] || ! [ "$__recordfs_file" -ef "/dev/fd/$__recordfs_fd" ]; then
                __recordfs_open
                [ -n "$__recordfs_fd" ] || return 0
            fi
            while IFS=$'\\t' read -r -u "$__recordfs_fd" kind place reason; do
                case $kind in
                refused) places+=("$place"); reasons+=("$reason") ;;
                saved)
                    p=() r=() i=0
                    for one in "${places[@]}"; do
                        if [ "$one" != "$place" ]; then
                            p+=("$one"); r+=("${reasons[@]:$i:1}")
                        fi
                        i=$((i + 1))
                    done
                    places=("${p[@]}") reasons=("${r[@]}")
                    ;;
                esac
            done
            i=0
            for one in "${places[@]}"; do
                if [[ $shown != *"|$one|"* ]]; then
                    shown+="|$one|"
                    printf 'recordfs: not saved: %s: %s\\n' "$one" "${reasons[@]:$i:1}" >&2
                fi
                i=$((i + 1))
            done
        }
        __recordfs_open
        if [ -n "$__recordfs_fd" ]; then
            while IFS= read -r -u "$__recordfs_fd" REPLY; do :; done
        fi

        """
    }

    private static let bashPrompt = """
        __recordfs_prompt() { local status=$?; __recordfs_tell; return $status; }
        case ";${PROMPT_COMMAND[*]};" in
        *__recordfs_prompt*) ;;
        *) PROMPT_COMMAND="__recordfs_prompt${PROMPT_COMMAND:+;$PROMPT_COMMAND}" ;;
        esac

        """

    private static let zshPrompt = """
        autoload -Uz add-zsh-hook
        add-zsh-hook precmd __recordfs_tell

        """

    private static func fishScript(_ file: String) -> String {
        """
        # recordfs hook: names refused saves before the next prompt.
        set -g __recordfs_file \(file)
        set -g __recordfs_seen 0
        test -r $__recordfs_file; and set -g __recordfs_seen (count <$__recordfs_file)
        function __recordfs_tell --on-event fish_prompt
            test -r $__recordfs_file; or return
            set -l now (count <$__recordfs_file)
            test $now -eq $__recordfs_seen; and return
            test $now -lt $__recordfs_seen; and set -g __recordfs_seen 0
            set -l places
            set -l reasons
            set -l number 0
            while read -l -d \\t kind place reason
                set number (math $number + 1)
                test $number -gt $__recordfs_seen; or continue
                set -l at (contains -i -- $place $places)
                if test -n "$at"
                    set -e places[$at]
                    set -e reasons[$at]
                end
                if test "$kind" = refused
                    set -a places $place
                    set -a reasons "$reason"
                end
            end <$__recordfs_file
            set -g __recordfs_seen $now
            set -l at 1
            for place in $places
                echo "recordfs: not saved: $place: $reasons[$at]" >&2
                set at (math $at + 1)
            end
        end

        """
    }
}
