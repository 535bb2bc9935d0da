import RecordWire

/// The body of an upload: the bytes of the asset, or a form with them as its file.
struct UploadBody: Sendable {
    /// The most bytes of a form besides its file.
    static let maximumFormBytes = MultipartReader.maximumEnvelopeBytes
    /// The size of a piece. It is small, because every upload holds one, and there are as many
    /// uploads as connections.
    private static let chunkBytes = 64 << 10

    private let assets: any AssetStore
    private let settings: ServiceSettings
    private let room: IncomingRoom
    private var form: MultipartReader?
    private var asset: any IncomingAsset
    private var pending: [UInt8] = []
    private var size: Int64 = 0
    private var parts = 0
    private var hasFile = false
    private var isTaking = true
    /// The bytes of the whole body.
    private(set) var received: Int64 = 0

    init(
        _ form: MultipartReader?, assets: any AssetStore, settings: ServiceSettings,
        room: IncomingRoom
    ) async throws(ServerError) {
        self.form = form
        self.assets = assets
        self.settings = settings
        self.room = room
        asset = try await assets.begin()
    }

    mutating func take(_ bytes: [UInt8]) async throws(ServerError) {
        received += Int64(bytes.count)
        guard form != nil else {
            try await append(bytes)
            return
        }
        try Self.requireSize(received - Int64(Self.maximumFormBytes), settings)
        for event in try form?.read(bytes) ?? [] {
            switch event {
            case .part(let hasFileName): try await begin(hasFileName: hasFileName)
            case .content(let bytes): if isTaking { try await append(bytes) }
            }
        }
    }

    /// Ends the body and returns the bytes of the asset. In a form, these are the part with a file
    /// name, or otherwise its only part.
    mutating func finish() async throws(ServerError) -> any IncomingAsset {
        try form?.finish()
        guard form == nil || hasFile || parts == 1 else {
            throw ServerError(
                .badRequest,
                "The form has \(parts) parts and none with a file name: send the asset as its file."
            )
        }
        try await flush()
        return asset
    }

    private mutating func begin(hasFileName: Bool) async throws(ServerError) {
        parts += 1
        guard hasFileName else {
            isTaking = parts == 1
            return
        }
        guard !hasFile else {
            throw ServerError(
                .badRequest, "The form has two files: ask assets/upload for a URL for each.")
        }
        hasFile = true
        isTaking = true
        guard size > 0 else { return }
        // The first part was no file.
        asset = try await assets.begin()
        pending.removeAll(keepingCapacity: true)
        size = 0
    }

    private mutating func append(_ bytes: some Collection<UInt8>) async throws(ServerError) {
        size += Int64(bytes.count)
        try Self.requireSize(size, settings)
        guard room.grow(to: size) else { throw Self.noRoom }
        pending.append(contentsOf: bytes)
        if pending.count >= Self.chunkBytes { try await flush() }
    }

    private mutating func flush() async throws(ServerError) {
        guard !pending.isEmpty else { return }
        try await asset.append(pending)
        pending.removeAll(keepingCapacity: true)
    }

    static let noRoom = ServerError(
        .quotaExceeded,
        "The asset does not fit into the free quota of the database's owner. Uploads that no "
            + "record refers to yet count too.")

    static func requireSize(_ size: Int64, _ settings: ServiceSettings) throws(ServerError) {
        guard size <= settings.assetBytes else {
            throw ServerError(
                .limitExceeded,
                "The asset is larger than \(settings.assetBytes) bytes, the limit.")
        }
    }
}
