import ArgumentParser
import RecordControl
import RecordModel

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what is wrong on this machine, and print how to fix it.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() throws {
        let findings = try Diagnosis(store: state.access()).run()
        for finding in findings {
            if json {
                Showing.jsonLine(
                    .members([
                        "check": .text(finding.check), "state": .text(finding.state.rawValue),
                        "message": .text(finding.message),
                        "mend": finding.mend.map { .text($0) },
                    ]))
                continue
            }
            Terminal.print("\(finding.state.mark) \(finding.check): \(finding.message)")
            if let mend = finding.mend { Terminal.print("    \(mend)") }
        }
        if findings.contains(where: { $0.state == .wrong }) {
            throw CommandFailure(nil, "", status: ExitStatus.failure)
        }
    }
}
