package import RecordModel
package import RecordWire

/// The key of subscriptions: those of one user in one database scope of a container.
package struct SubscriptionKey: Hashable, Sendable {
    package let container: ContainerKey
    package let user: UserName
    package let scope: DatabaseScope
    package init(container: ContainerKey, user: UserName, scope: DatabaseScope) {
        self.container = container
        self.user = user
        self.scope = scope
    }
}

package struct SubscriptionRow: Hashable, Sendable {
    package let key: SubscriptionKey
    package let subscriptionID: Text
    /// The subscription dictionary as JSON.
    package let dictionary: [UInt8]
    package init(key: SubscriptionKey, subscriptionID: Text, dictionary: [UInt8]) {
        self.key = key
        self.subscriptionID = subscriptionID
        self.dictionary = dictionary
    }
}

/// A client that waits for notifications.
package struct PushDeviceRow: Hashable, Sendable {
    /// SHA-256 of the secret in the webcourier URL, in hexadecimal.
    package let courierHash: Text
    package let container: ContainerKey
    package let user: UserName
    /// The session or the server-to-server key that asked for the device. Its courier ends with
    /// that credential.
    package let credential: Text
    package let clientID: Text
    /// The APNs environment: `development` or `production`.
    package let apnsEnvironment: Text
    package let apnsToken: Text
    package var isRegistered: Bool
    package var lastSeenMilliseconds: Int64
    package init(
        courierHash: Text, container: ContainerKey, user: UserName, credential: Text,
        clientID: Text, apnsEnvironment: Text, apnsToken: Text, lastSeenMilliseconds: Int64
    ) {
        self.courierHash = courierHash
        self.container = container
        self.user = user
        self.credential = credential
        self.clientID = clientID
        self.apnsEnvironment = apnsEnvironment
        self.apnsToken = apnsToken
        isRegistered = true
        self.lastSeenMilliseconds = lastSeenMilliseconds
    }
}

package protocol PushReader {
    func subscription(_ key: SubscriptionKey, _ id: Text) throws(ServerError) -> SubscriptionRow?
    func subscriptions(_ key: SubscriptionKey) throws(ServerError) -> [SubscriptionRow]
    /// Returns the subscriptions of all users to the public database.
    func publicSubscriptions(_ container: ContainerKey) throws(ServerError) -> [SubscriptionRow]
    func pushDevice(courierHash: Text) throws(ServerError) -> PushDeviceRow?
    func pushDevices(_ container: ContainerKey, _ user: UserName) throws(ServerError)
        -> [PushDeviceRow]
    /// Returns those of `courierHashes` whose queue holds a frame.
    func devicesWithFrames(among courierHashes: [Text]) throws(ServerError) -> [Text]
}

package protocol PushWriter {
    func putSubscription(_ row: SubscriptionRow) throws(ServerError)
    func deleteSubscription(_ key: SubscriptionKey, _ id: Text) throws(ServerError)
    func putPushDevice(_ device: PushDeviceRow) throws(ServerError)
    func deletePushDevice(courierHash: Text) throws(ServerError)
    /// Adds a frame at the end of a device's queue. Beyond `limit` frames, the oldest ones are
    /// removed.
    func enqueueFrame(courierHash: Text, _ frame: [UInt8], limit: Int) throws(ServerError)
    /// Removes devices not seen since `milliseconds`, and devices whose session or key is revoked
    /// or expired at `now`, with their queues.
    func removePushDevices(lastSeenBefore milliseconds: Int64, at now: Int64) throws(ServerError)
    /// Removes the oldest frame from the queue and returns it.
    func dequeueFrame(courierHash: Text) throws(ServerError) -> [UInt8]?
}
