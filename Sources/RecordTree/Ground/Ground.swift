import RecordModel
import RecordStore

/// The rooms below all others: numbers, permissions, rows, reasons of failures and open handles.
struct Ground: Sendable {
    let store: RecordStore
    let options: TreeOptions
    let mounted: Timestamp
    let events: EventLog
    let kernel: KernelNotifier
    let nodes: Nodes
    let nodeNotices: NodeNotices
    let places: TypeDirectories
    let permissions: OwnPermissions
    let modes: FileModes
    let rows: CachedRows
    let recordStates: RecordStates
    let workingFiles: WorkingFiles
    let errors: ErrorReports
    let handles: OpenHandles

    init(store: RecordStore, options: TreeOptions) {
        self.store = store
        self.options = options
        mounted = options.now
        events = EventLog(clock: options.clock)
        kernel = KernelNotifier()
        nodes = Nodes()
        nodeNotices = NodeNotices(kernel: kernel, nodes: nodes)
        places = TypeDirectories(options: options, store: store)
        permissions = OwnPermissions(options: options, places: places, store: store)
        modes = FileModes(mounted: mounted, options: options, places: places, store: store)
        rows = CachedRows(store: store)
        recordStates = RecordStates(places: places, store: store)
        workingFiles = WorkingFiles(store: store)
        errors = ErrorReports(
            events: events, kernel: kernel, options: options, places: places, store: store)
        handles = OpenHandles(nodes: nodes)
    }
}
