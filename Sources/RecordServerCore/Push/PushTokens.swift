import RecordModel
import RecordWire

/// Answers tokens/create and tokens/register.
struct PushTokens: Sendable {
    let resources: ServiceResources

    /// Answers tokens/create: makes a courier for one more device of the caller
    /// (CloudKit Web Services Reference, Creating APNs Tokens).
    func createPushToken(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let request = try PushTokenBody(JSONReader(body))
        let user = try context.requireUser()
        let credential = try context.requireCredential()
        let secret = Text(URLSafeBase64.encode(SecureRandom.bytes(32)))
        let device = PushDeviceRow(
            courierHash: PushHub.courierHash(secret), container: context.container,
            user: user.name, credential: credential, clientID: request.clientID ?? "",
            apnsEnvironment: Text(request.apnsEnvironment.rawValue),
            apnsToken: Text(utf8: Base64.encode(SecureRandom.bytes(32))),
            lastSeenMilliseconds: context.milliseconds)
        let maximum = resources.push.settings.devicesPerUser
        try await resources.storage.write { transaction throws(ServerError) in
            var live: [PushDeviceRow] = []
            for old in try transaction.pushDevices(device.container, device.user) {
                if try transaction.hasGoodCredential(old, at: context.milliseconds) {
                    live.append(old)
                } else {
                    try transaction.deletePushDevice(courierHash: old.courierHash)
                }
            }
            live.sort { $0.lastSeenMilliseconds < $1.lastSeenMilliseconds }
            for old in live.prefix(max(0, live.count - maximum + 1)) {
                try transaction.deletePushDevice(courierHash: old.courierHash)
            }
            try transaction.putPushDevice(device)
        }
        return AnswerWriter.object { answer in
            answer.member("apnsEnvironment", device.apnsEnvironment)
            answer.member("apnsToken", device.apnsToken)
            answer.member("webcourierURL", context.baseURL + "/courier/" + secret.string)
        }
    }

    /// Answers tokens/register: confirms a token of tokens/create. Others are refused, because this
    /// server has no connection to Apple's push service.
    func registerPushToken(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let json = JSONReader(body)
        let request = try PushTokenBody(json)
        let user = try context.requireUser()
        guard let token = request.apnsToken else { throw json.error("lacks apnsToken.") }
        try await resources.storage.write { transaction throws(ServerError) in
            let devices = try transaction.pushDevices(context.container, user.name)
            guard
                var device = devices.first(where: {
                    $0.apnsToken == token
                        && $0.apnsEnvironment.string == request.apnsEnvironment.rawValue
                })
            else {
                throw ServerError(
                    .notFound, "This user has no such token here: ask tokens/create for one.")
            }
            device.isRegistered = true
            device.lastSeenMilliseconds = context.milliseconds
            try transaction.putPushDevice(device)
        }
        return Array("{}".utf8)
    }
}
