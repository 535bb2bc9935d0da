import RecordModel
import RecordServerCore

extension KnownDevice {
    fileprivate static func cookieName(isSecure: Bool) -> String {
        isSecure ? "__Host-recordfs-device" : "recordfs-device"
    }
}

extension Pages {
    func knownDevice(_ request: PageRequest) -> KnownDevice? {
        let name = KnownDevice.cookieName(isSecure: request.isSecure)
        return request.cookies[name].flatMap { KnownDevice(Text($0), seal: authenticator.seal) }
    }

    /// Remembers the browser as one of this user.
    func remember(_ user: UserRow, _ request: PageRequest, _ response: inout PageResponse) {
        var device = knownDevice(request) ?? KnownDevice()
        device.add(user.name)
        response.setCookie(
            KnownDevice.cookieName(isSecure: request.isSecure),
            device.sealed(by: authenticator.seal).string, isSecure: request.isSecure,
            seconds: KnownDevice.lifeSeconds)
    }
}
