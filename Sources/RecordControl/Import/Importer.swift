package import RecordModel

/// Imports the rows of a source into a TYPE directory, batch by batch.
///
/// A row whose values the store already has changes nothing, so that an import can be run again.
/// While the store saves a batch, the next one is read: one core parses and another one writes.
package struct Importer {
    package struct Options: Sendable {
        package var target: RecordPath
        /// Indicates whether the import stops at the first bad row. The rows before it stay.
        package var isStrict = false
        /// The number of rows in one transaction. It is 200 beside a mount, which waits for each
        /// transaction, and more without one.
        package var batchRows = 200
        package var checkpoint: ImportCheckpoint?
        /// Indicates whether the import continues after the rows of the checkpoint.
        package var resumes = false
        package var checkpointInterval = Duration.seconds(1)
        /// Indicates whether the import only reports what it would do, and stores nothing.
        package var isRehearsal = false
        /// Indicates whether fields of a record that the source does not mention are removed.
        package var replaces = false

        package init(target: RecordPath) {
            self.target = target
        }
    }

    package typealias Perform =
        @Sendable (ControlRequest) throws(RecordError) -> ControlReply

    private static let batchBytes = 16 << 20

    private let options: Options
    private let plan: ImportPlan
    private var rows: any ImportRows
    private let lane: RequestLane
    private let onProblem: (ImportProblem) -> Void
    private let onProgress: (ImportProgress) -> Void
    private var naming: RecordNaming
    private var progress = ImportProgress()
    private var batch = Batch()
    /// The batch that the store is saving.
    private var sent: Batch?
    private var lastCheckpoint = ContinuousClock.now
    private var isStopped = false
    private var hasAnnounced = false
    /// Indicates whether rows are the texts of files, which replace the existing ones.
    private let isByText: Bool

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - plan: the result of a survey of this source.
    ///   - perform: sends a request to the store, or to the process that has it.
    /// Errors: as `ImportSource.rows`.
    package init(
        _ source: ImportSource, plan: ImportPlan, options: Options, perform: @escaping Perform,
        onProblem: @escaping (ImportProblem) -> Void,
        onProgress: @escaping (ImportProgress) -> Void = { _ in }
    ) throws(RecordError) {
        rows = try source.rows(plan)
        isByText = source.isDirectory
        self.plan = plan
        self.options = options
        lane = RequestLane(perform)
        self.onProblem = onProblem
        self.onProgress = onProgress
        naming = RecordNaming(plan.names)
        progress.total = rows.byteCount
    }

    /// The rows that are saved together.
    private struct Batch {
        var rows: [ImportBatch.Row] = []
        var origins: [(row: ImportRow, number: Int)] = []
        var byteCount = 0
        /// The bad rows, in the order in which they were found.
        var problems: [ImportProblem] = []
        /// The number of rows that were read, and of bytes, up to its end.
        var lastRow = 0
        var end = 0
    }

    /// Runs the import and returns the total progress, with bad rows counted.
    ///
    /// Errors: those of the source as a whole and of the store. Batches that were committed before
    /// stay.
    package mutating func run() throws(RecordError) -> ImportProgress {
        let skipped = options.resumes ? options.checkpoint?.rows() ?? 0 : 0
        while !isStopped, let row = try nextRow() {
            progress.rows += 1
            if row.endsSource { isStopped = true }
            if let (stem, text) = named(row), progress.rows > skipped {
                batch.rows.append(.init(stem: stem, text: text))
                batch.origins.append((row, progress.rows))
                batch.byteCount += text.count
            }
            if batch.rows.count >= options.batchRows || batch.byteCount >= Self.batchBytes {
                try commit(upTo: row.end)
            }
        }
        try commit(upTo: progress.total ?? batch.end)
        try settle()
        if !isStopped { options.checkpoint?.remove() }
        return progress
    }

    /// Returns the next row. When the source becomes unreadable, the rows before that place are
    /// still imported.
    private mutating func nextRow() throws(RecordError) -> ImportRow? {
        do {
            return try rows.next()
        } catch {
            try commit(upTo: progress.consumed)
            try settle()
            throw error
        }
    }

    private mutating func named(_ row: ImportRow) -> (Stem, [UInt8])? {
        do throws(RecordError) {
            if case .bad(let error) = row.content { throw error }
            let (stem, content) = try naming.name(row, number: progress.rows)
            switch content {
            case .text(let text): return (stem, text)
            case .fields(let members):
                let fields = JSONValue.object(plan.naming.apply(to: members))
                return (stem, fields.serialized(pretty: true) + [0x0A])
            case .bad(let error): throw error
            }
        } catch {
            report(row, progress.rows, error)
        }
        return nil
    }

    private mutating func report(_ row: ImportRow, _ number: Int, _ error: RecordError) {
        batch.problems.append(problem(row, number, error))
    }

    private mutating func problem(
        _ row: ImportRow, _ number: Int, _ error: RecordError
    ) -> ImportProblem {
        progress.failed += 1
        if options.isStrict { isStopped = true }
        return ImportProblem(
            line: row.sharesLine ? nil : row.line, number: number, file: row.file, error: error)
    }

    /// Lets the store save the batch, once it has saved the one before.
    private mutating func commit(upTo end: Int) throws(RecordError) {
        try settle()
        (batch.lastRow, batch.end) = (progress.rows, end)
        if !batch.rows.isEmpty {
            var request = ImportBatch(
                target: options.target, rows: batch.rows, stopsAtError: options.isStrict)
            // A rehearsed batch leaves no fields behind for the next one.
            if !hasAnnounced || options.isRehearsal { request.fields = plan.newFields }
            request.isRehearsal = options.isRehearsal
            if !options.replaces, !isByText { request.spokenFields = plan.spokenFields }
            hasAnnounced = true
            lane.send(.importBatch(request))
        }
        sent = batch
        batch = Batch()
        batch.end = end
        // The first bad row is the last one that is read.
        if options.isStrict { try settle() }
    }

    /// Waits until the store has saved the batch that was sent, and reports it.
    private mutating func settle() throws(RecordError) {
        guard var done = sent else { return }
        sent = nil
        defer { for problem in done.problems { onProblem(problem) } }
        if !done.rows.isEmpty { count(try lane.reply(), &done) }
        done.problems.sort { $0.number < $1.number }
        progress.consumed = done.end
        var shown = progress
        shown.rows = done.lastRow
        onProgress(shown)
        try saveCheckpoint(upTo: done.lastRow)
    }

    private mutating func count(_ reply: ControlReply, _ done: inout Batch) {
        progress.created += Int(reply.result.integerMember("created") ?? 0)
        progress.updated += Int(reply.result.integerMember("updated") ?? 0)
        progress.unchanged += Int(reply.result.integerMember("unchanged") ?? 0)
        for problem in reply.result["errors"]?.array ?? [] {
            guard let row = problem.integerMember("row"), done.origins.indices.contains(Int(row)),
                let error = problem["error"]
            else { continue }
            let origin = done.origins[Int(row)]
            done.problems.append(
                self.problem(
                    origin.row, origin.number, Self.placed(RecordError(json: error), origin.row)))
        }
    }

    /// Returns the error without its place for a text that was printed for the store: the author of
    /// the source does not know that text.
    private static func placed(_ error: RecordError, _ row: ImportRow) -> RecordError {
        if case .text = row.content { return error }
        return RecordError(error.code, error.message, errno: error.systemErrno)
    }

    private mutating func saveCheckpoint(upTo row: Int) throws(RecordError) {
        let now = ContinuousClock.now
        guard !isStopped, let checkpoint = options.checkpoint,
            now - lastCheckpoint >= options.checkpointInterval
        else { return }
        lastCheckpoint = now
        // A checkpoint must never count rows that a power failure can still remove.
        lane.send(.verb(.flush))
        _ = try lane.reply()
        try checkpoint.save(rows: row)
    }
}
