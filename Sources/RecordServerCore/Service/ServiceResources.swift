import RecordWire

/// The parts of a server that its operations share.
package struct ServiceResources: Sendable {
    package let storage: any Storage
    package let assets: any AssetStore
    /// Makes and checks the values that clients keep and send back: sync tokens, markers, receipts,
    /// URLs.
    package let seal: Seal
    package let settings: ServiceSettings
    package let push: PushHub
    package let throttles: any Throttles
    /// The bytes of the uploads that this process is receiving now.
    let incoming = IncomingBytes()
    let recent = RecentRecords()

    package init(
        storage: any Storage, assets: any AssetStore, seal: Seal, settings: ServiceSettings,
        push: PushHub, throttles: any Throttles
    ) {
        self.storage = storage
        self.assets = assets
        self.seal = seal
        self.settings = settings
        self.push = push
        self.throttles = throttles
    }
}
