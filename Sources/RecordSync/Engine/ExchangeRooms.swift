/// The rooms of an exchange. Each has the work of one concern.
extension Exchange {
    var shares: ShareExchange { ShareExchange(exchange: self) }
    var assets: AssetExchange { AssetExchange(exchange: self) }
}

/// The shares of a database and what they allow.
struct ShareExchange: Sendable {
    let exchange: Exchange
}

/// The bytes of large fields.
struct AssetExchange: Sendable {
    let exchange: Exchange
}
