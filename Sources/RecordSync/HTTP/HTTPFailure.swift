import CCurl

/// The reason why there is no whole answer.
enum HTTPFailure: Error {
    /// A failure of libcurl, with its text.
    case transfer(CURLcode, String)
    /// The file that was to be sent cannot be read.
    case file(String)
    case noAnswer
    case tooLong

    /// The problem in words that help a user to act.
    var problem: SyncProblem {
        switch self {
        case .noAnswer: .unreachable("there was no answer")
        case .tooLong: .unreachable("the answer is longer than anything that was asked for")
        case .file(let reason): .unreachable(reason)
        case .transfer(CURLE_OPERATION_TIMEDOUT, _):
            .unreachable("no complete answer arrived in time")
        case .transfer(CURLE_PEER_FAILED_VERIFICATION, let words),
            .transfer(CURLE_SSL_CACERT_BADFILE, let words),
            .transfer(CURLE_SSL_ISSUER_ERROR, let words):
            .unreachable(
                "no secure connection: the server's certificate is from an authority that this machine "
                    + "does not trust, for another name, or no longer valid. For your own "
                    + "authority: recordfs login --ca-file FILE. (\(words))")
        case .transfer(CURLE_SSL_CONNECT_ERROR, let words):
            .unreachable(
                "no secure connection: the server does not support the TLS of this machine. "
                    + "(\(words))")
        case .transfer(_, let words): .unreachable(words)
        }
    }
}
