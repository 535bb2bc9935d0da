import CCurl
import Glibc
import RecordModel
import RecordStore

/// Libcurl's handle of a transfer with its memory. Only the thread of `TransferLoop` uses it.
struct TransferHandle {
    let curl: UnsafeMutableRawPointer
    private let words: UnsafeMutablePointer<CChar>
    private let headers: UnsafeMutablePointer<curl_slist>?
    /// The descriptor of the file that is sent. -1 for another body.
    private let descriptor: Int32

    /// The limit for making a connection, in milliseconds. It is short, because a connection
    /// attempt does not notice that the network has returned.
    private static let connectPatience = 4_000

    init(_ transfer: Transfer) throws(HTTPFailure) {
        let request = transfer.request
        descriptor = try Self.open(request.body)
        guard let curl = ccurl_init() else {
            if descriptor >= 0 { close(descriptor) }
            throw .transfer(CURLE_FAILED_INIT, "libcurl cannot be used")
        }
        self.curl = curl
        words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        var list: UnsafeMutablePointer<curl_slist>?
        // A line without a value: libcurl would send its own values for these. The request's own
        // lines follow and replace them.
        for line in ["Accept:", "Expect:", "Content-Type:"] + request.headers {
            list = ccurl_append(list, line)
        }
        headers = list
        let context = UnsafeMutableRawPointer(bitPattern: transfer.id)
        ccurl_set_text(curl, CURLOPT_URL, request.url)
        ccurl_set_pointer(curl, CURLOPT_HTTPHEADER, headers)
        ccurl_set_pointer(curl, CURLOPT_ERRORBUFFER, words)
        ccurl_set_number(curl, CURLOPT_NOSIGNAL, 1)
        ccurl_set_number(curl, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        ccurl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_number(curl, CURLOPT_CONNECTTIMEOUT_MS, Self.connectPatience)
        ccurl_set_number(curl, CURLOPT_TIMEOUT_MS, request.patience.milliseconds)
        ccurl_set_connected(curl) { _, socket, _ in
            watchPath(of: socket)
            return CURL_SOCKOPT_OK
        }
        if let authority = request.authority {
            // The certificates of the system are in a directory, and are trusted too.
            ccurl_set_text(curl, CURLOPT_CAINFO, authority)
        }
        ccurl_set_move(curl, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            takeHead(bytes, size * count, context)
        }
        ccurl_set_pointer(curl, CURLOPT_HEADERDATA, context)
        ccurl_set_move(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            takePiece(bytes, size * count, context)
        }
        ccurl_set_pointer(curl, CURLOPT_WRITEDATA, context)
        setBody(request, context)
    }

    private static func open(_ body: HTTPCall.Body) throws(HTTPFailure) -> Int32 {
        guard case .file(let file) = body else { return -1 }
        let descriptor = Glibc.open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw .file("\(RecordError.systemCall("open \(file.path)", errno))")
        }
        return descriptor
    }

    private func setBody(_ request: Transfer.Request, _ context: UnsafeMutableRawPointer?) {
        switch request.body {
        case .none: break
        case .bytes(let bytes):
            ccurl_set_number(curl, CURLOPT_POST, 1)
            ccurl_set_size(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            bytes.withUnsafeBytes { buffer in
                let start = UnsafeMutableRawPointer(mutating: buffer.baseAddress)
                ccurl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, start)
            }
        case .file(let file):
            ccurl_set_number(curl, CURLOPT_POST, 1)
            ccurl_set_size(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(file.size))
            let file = UnsafeMutableRawPointer(bitPattern: UInt(descriptor) + 1)
            ccurl_set_move(curl, CURLOPT_READFUNCTION) { bytes, size, count, file in
                readFile(bytes, size * count, file)
            }
            ccurl_set_pointer(curl, CURLOPT_READDATA, file)
            // A connection that was kept may turn out to be closed after the first bytes were sent.
            // Then the file is read again from its beginning.
            ccurl_set_seek(curl) { file, offset, origin in
                lseek(number(of: file), off_t(offset), origin) < 0
                    ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK
            }
            ccurl_set_pointer(curl, CURLOPT_SEEKDATA, file)
        }
        ccurl_set_text(curl, CURLOPT_CUSTOMREQUEST, request.method)
    }

    func outcome(_ result: CURLcode) -> Result<Void, HTTPFailure> {
        if result == CURLE_OK { return .success(()) }
        let detail = String(cString: words)
        let text = detail.isEmpty ? String(cString: ccurl_words(result)) : detail
        return .failure(.transfer(result, text))
    }

    func free() {
        ccurl_cleanup(curl)
        ccurl_free_list(headers)
        words.deallocate()
        if descriptor >= 0 { close(descriptor) }
    }
}

extension Duration {
    /// The duration in milliseconds, at least one.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}

// MARK: Callbacks

private func takeHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let transfer = TransferLoop.transfer(context) else { return 0 }
    let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    // A CR with an LF is one character.
    transfer.take(line: line.prefix { !$0.isNewline })
    return count
}

private func takePiece(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = TransferLoop.transfer(context) else { return 0 }
    guard count > 0 else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
    return transfer.take(piece: piece) ? count : Int(CURL_WRITEFUNC_PAUSE)
}

/// Returns the descriptor in the context of its callbacks. The context is the descriptor plus one,
/// because zero would be no context.
private func number(of file: UnsafeMutableRawPointer?) -> Int32 {
    Int32(truncatingIfNeeded: UInt(bitPattern: file)) - 1
}

private func readFile(
    _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ file: UnsafeMutableRawPointer?
) -> Int {
    while true {
        let got = read(number(of: file), bytes, count)
        if got < 0, errno == EINTR { continue }
        return got < 0 ? Int(CURL_READFUNC_ABORT) : got
    }
}

/// Ends a silent connection after seconds, and not after the system's minutes, when the other end
/// no longer answers. A poll waits on its connection in silence, and a request would still wait for
/// it after the network has returned. Without this socket option the connection works too.
private func watchPath(of socket: curl_socket_t) {
    let options: [(level: Int32, name: Int32, value: Int32)] = [
        (SOL_SOCKET, SO_KEEPALIVE, 1), (tcp, TCP_KEEPIDLE, 8), (tcp, TCP_KEEPINTVL, 2),
        (tcp, TCP_KEEPCNT, 2), (tcp, TCP_USER_TIMEOUT, 12_000),
    ]
    for (level, name, value) in options {
        var value = value
        setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

private let tcp = Int32(IPPROTO_TCP)
