import ArgumentParser
import RecordControl
import RecordModel

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print the completion script for a shell.",
        discussion: """
            bash: recordfs completions bash > \
            ~/.local/share/bash-completion/completions/recordfs. zsh: write it to _recordfs in a \
            directory of $fpath. fish: write it to ~/.config/fish/completions/recordfs.fish.
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        switch shell {
        case .bash: Terminal.print(CompletionScripts.bash)
        case .zsh: Terminal.print(CompletionScripts.zsh)
        case .fish: Terminal.print(CompletionScripts.fish)
        }
    }
}

/// The hidden command that the completion scripts call. It prints one candidate on each line.
/// `:files` and `:directories` ask the shell to complete those itself.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "__complete", abstract: "Complete a record path or a command line.",
        shouldDisplay: false)

    @OptionGroup var state: StateOptions
    @Flag(help: "The words are a whole command line without the program.")
    var line = false
    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() {
        var words = words
        var isLine = line
        while let first = words.first, first == "--" || first == "--line" {
            if first == "--line" { isLine = true }
            words.removeFirst()
            if first == "--" { break }
        }
        let completion = Completion(words: words, state: state)
        let candidates = isLine ? completion.line() : completion.paths(words.last ?? "")
        for candidate in candidates { Terminal.print(candidate) }
    }
}
