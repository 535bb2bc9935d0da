import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server report ...`
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "List and dismiss reports about shares.",
        subcommands: [List.self, Dismiss.self])

    struct Dismiss: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a report from the list.",
            discussion:
                "The share does not change. If necessary, end it or disable its owner.")

        @OptionGroup var data: DataOptions
        @Argument(help: "The number of the report, from `report list`.")
        var number: Int64

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                try await data.accounts.dismissReport(number)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the reports, newest first.",
            discussion: "A report stays after its share has ended. The newest 10 000 are kept.")

        @OptionGroup var data: DataOptions
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                var table = Table([
                    "number", "time", "share", "owner", "zone", "container", "environment",
                    "reporter",
                    "text",
                ])
                for (number, report) in try await data.accounts.reports() {
                    let database = report.zone.database
                    table.add(
                        .number(number), .time(report.milliseconds), .text(report.shortGUID),
                        .text(Text(database.owner.description)),
                        .text(Text(report.zone.zone.description)),
                        .text(database.container.container),
                        .text(Text(database.container.environment.rawValue)),
                        .text(Text(report.reporter.description)), .text(report.text))
                }
                table.print(asJSON: json)
            }
        }
    }
}
