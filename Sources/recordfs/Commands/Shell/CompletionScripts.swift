/// The completion scripts. They are short, because the program itself finds the candidates.
enum CompletionScripts {
    static let bash = """
        # bash completion of recordfs
        _recordfs() {
            local cur="${COMP_WORDS[COMP_CWORD]}" IFS=$'\\n' line
            COMPREPLY=()
            for line in $(recordfs __complete --line -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
                case "$line" in
                    :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$cur")) ;;
                    :directories) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$cur")) ;;
                    *) COMPREPLY+=("$(printf '%q' "$line")") ;;
                esac
            done
            if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then compopt -o nospace; fi
        }
        complete -F _recordfs recordfs
        """

    static let zsh = """
        #compdef recordfs
        # zsh completion of recordfs
        _recordfs() {
            local line
            local -a open closed
            for line in ${(f)"$(recordfs __complete --line -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
                case $line in
                    :files) _files ;;
                    :directories) _files -/ ;;
                    */|*=) open+=("$line") ;;
                    *) closed+=("$line") ;;
                esac
            done
            (( ${#open} )) && compadd -S '' -- $open
            (( ${#closed} )) && compadd -- $closed
            return 0
        }
        if [ "$funcstack[1]" = "_recordfs" ]; then _recordfs "$@"; else compdef _recordfs recordfs; fi
        """

    static let fish = """
        # fish completion of recordfs
        function __recordfs_complete
            set -l words (commandline -opc) (commandline -ct)
            for line in (recordfs __complete --line -- $words[2..-1] 2>/dev/null)
                switch $line
                    case :files
                        __fish_complete_path (commandline -ct)
                    case :directories
                        __fish_complete_directories (commandline -ct)
                    case '*'
                        echo $line
                end
            end
        end
        complete -c recordfs -f -a '(__recordfs_complete)'
        """
}
