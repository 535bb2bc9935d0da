import CCurl
import Glibc
import Synchronization

/// The thread that carries all requests of the process, on connections that are kept open. Only
/// this thread uses libcurl's handles.
final class TransferLoop: Sendable {
    static let shared = TransferLoop()

    private enum Order {
        case begin(Transfer)
        case goOn(UInt)
        case cancel(UInt)
    }

    private struct State {
        var orders: [Order] = []
        /// Libcurl's multi handle as a number, when the thread runs.
        var multi: UInt = 0
        var isStarted = false
        var lastID: UInt = 0
    }

    private let state = Mutex(State())
    /// The running transfers by their numbers, for libcurl's callbacks, which know the number.
    private let transfers = Mutex<[UInt: Transfer]>([:])

    private init() {}

    func begin(_ request: Transfer.Request) -> Transfer {
        let (transfer, isFirst) = state.withLock { state in
            state.lastID += 1
            let transfer = Transfer(state.lastID, request)
            state.orders.append(.begin(transfer))
            defer { state.isStarted = true }
            return (transfer, !state.isStarted)
        }
        if isFirst { start() }
        wake()
        return transfer
    }

    /// Continues a transfer whose task takes pieces again.
    func goOn(_ transfer: Transfer) { give(.goOn(transfer.id)) }

    /// Ends a transfer that nobody wants any more. Does nothing to a transfer that has ended.
    func cancel(_ transfer: Transfer) {
        if !transfer.isOver { give(.cancel(transfer.id)) }
    }

    private func give(_ order: Order) {
        state.withLock { $0.orders.append(order) }
        wake()
    }

    private func wake() {
        // Before the thread runs there is nothing to wake: it looks for orders first.
        let multi = state.withLock { UnsafeMutableRawPointer(bitPattern: $0.multi) }
        if let multi { ccurl_multi_wakeup(multi) }
    }

    // MARK: The thread

    private func start() {
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { _ in
                // This thread handles neither termination signals nor those of closed connections.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                TransferLoop.shared.run()
                return nil
            }, nil)
        guard error == 0 else {
            return endAll(.transfer(CURLE_FAILED_INIT, "no thread for requests: \(error)"))
        }
        pthread_detach(thread)
    }

    private func run() {
        guard ccurl_load() == 0 else {
            let words = String(cString: ccurl_load_error())
            return endAll(.transfer(CURLE_FAILED_INIT, "libcurl is needed for requests: \(words)"))
        }
        guard let multi = ccurl_multi_init() else {
            return endAll(.transfer(CURLE_FAILED_INIT, "libcurl cannot be used"))
        }
        ccurl_multi_keep(multi, Self.connectionsKept)
        state.withLock { $0.multi = UInt(bitPattern: multi) }
        var handles: [UInt: TransferHandle] = [:]
        while true {
            let orders = state.withLock { state in
                defer { state.orders = [] }
                return state.orders
            }
            for order in orders { perform(order, multi, &handles) }
            ccurl_multi_perform(multi)
            finishEnded(multi, &handles)
            ccurl_multi_rest(multi, Self.longestRest)
        }
    }

    private static let connectionsKept = 64
    /// The longest wait, in milliseconds.
    private static let longestRest: Int32 = 60_000

    private func perform(
        _ order: Order, _ multi: UnsafeMutableRawPointer, _ handles: inout [UInt: TransferHandle]
    ) {
        switch order {
        case .begin(let transfer):
            transfers.withLock { $0[transfer.id] = transfer }
            do throws(HTTPFailure) {
                let handle = try TransferHandle(transfer)
                handles[transfer.id] = handle
                ccurl_multi_add(multi, handle.curl)
            } catch {
                forget(transfer.id, .failure(error))
            }
        case .goOn(let id):
            if let handle = handles[id] { ccurl_pause(handle.curl, CURLPAUSE_CONT) }
        case .cancel(let id):
            guard let handle = handles.removeValue(forKey: id) else { return }
            ccurl_multi_remove(multi, handle.curl)
            handle.free()
            forget(id, .failure(.noAnswer))
        }
    }

    private func finishEnded(
        _ multi: UnsafeMutableRawPointer, _ handles: inout [UInt: TransferHandle]
    ) {
        var result = CURLE_OK
        while let curl = ccurl_multi_take_ended(multi, &result) {
            guard let (id, handle) = handles.first(where: { $0.value.curl == curl }) else {
                continue
            }
            let outcome = handle.outcome(result)
            ccurl_multi_remove(multi, curl)
            handles[id] = nil
            handle.free()
            forget(id, outcome)
        }
    }

    private func forget(_ id: UInt, _ outcome: Result<Void, HTTPFailure>) {
        transfers.withLock { $0.removeValue(forKey: id) }?.end(outcome)
    }

    /// Ends all transfers, because the thread could not be started.
    private func endAll(_ failure: HTTPFailure) {
        let orders = state.withLock { state in
            defer { state.orders = [] }
            state.isStarted = false
            return state.orders
        }
        for case .begin(let transfer) in orders { transfer.end(.failure(failure)) }
    }

    /// Returns the transfer of a callback.
    static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        shared.transfers.withLock { $0[UInt(bitPattern: context)] }
    }
}
