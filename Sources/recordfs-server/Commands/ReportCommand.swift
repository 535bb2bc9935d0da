import ArgumentParser
import RecordModel
import RecordServer
import RecordWire

/// `recordfs-server report ...`
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "See what people have reported of shares.",
        subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the reports, the newest first.",
            discussion: "A report stays when its share has ended; the newest 10 000 are kept.")

        @OptionGroup var data: DataOptions
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let reports = try await data.storage.read { (reader) throws(ServerError) in
                    try reader.shareReports(limit: ShareReport.limit)
                }
                var table = Table([
                    "time", "share", "owner", "zone", "container", "environment", "reporter",
                    "text",
                ])
                for report in reports {
                    let database = report.zone.database
                    table.add(
                        .time(report.milliseconds), .text(report.shortGUID),
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
