import RecordModel
import RecordServerCore

/// The proof that a form came from a page of this server in this browser: a sealed token in the
/// form and a random cookie, which another site can neither read nor set.
struct FormToken: Sendable {
    static let seconds: Int64 = 3600

    let seal: Seal
    let milliseconds: Int64
    /// The value of the cookie.
    let cookie: String
    /// Indicates whether the cookie has to be set, because the browser did not send one.
    let isNew: Bool

    init(_ request: PageRequest, seal: Seal) {
        self.seal = seal
        milliseconds = request.milliseconds
        let name = Self.cookieName(isSecure: request.isSecure)
        if let cookie = request.cookies[name], Hexadecimal.isHexadecimal(Text(cookie), digits: 32) {
            self.cookie = cookie
            isNew = false
        } else {
            cookie = SecureRandom.hex128()
            isNew = true
        }
    }

    /// Returns the name of the cookie. With `__Host-`, a browser takes the cookie from this host
    /// only.
    static func cookieName(isSecure: Bool) -> String {
        isSecure ? "__Host-recordfs-form" : "recordfs-form"
    }

    /// Returns the hidden field of a form for `action`.
    func field(_ action: String) -> HTML {
        var payload = ByteWriter()
        payload.append(milliseconds + Self.seconds * 1000)
        payload.appendCounted(Array(action.utf8))
        payload.appendCounted(Array(cookie.utf8))
        let token = seal.seal(payload.bytes, for: .form)
        return "<input type=\"hidden\" name=\"form\" value=\"\(token)\">"
    }

    /// Returns whether the posted form is for `action`, comes from this browser and is not too old.
    func isGood(_ request: PageRequest, _ action: String) -> Bool {
        guard !isNew, let token = request.form?["form"],
            let payload = seal.open(token, for: .form)
        else { return false }
        var reader = ByteReader(payload)
        guard let expires = reader.int64(), let made = reader.counted(),
            let bound = reader.counted(), reader.isAtEnd
        else { return false }
        return milliseconds <= expires && made.elementsEqual(action.utf8)
            && ConstantTime.equal(bound, Array(cookie.utf8))
    }
}

extension PageResponse {
    /// Sets a cookie that scripts do not see and other sites do not send with their forms. With
    /// `seconds` nil it lasts until the browser ends, and 0 removes it.
    mutating func setCookie(_ name: String, _ value: String, isSecure: Bool, seconds: Int64?) {
        var cookie = "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax"
        if isSecure { cookie += "; Secure" }
        if let seconds { cookie += "; Max-Age=\(seconds)" }
        add("Set-Cookie", cookie)
    }

    mutating func setCookie(of token: FormToken, isSecure: Bool) {
        guard token.isNew else { return }
        setCookie(
            FormToken.cookieName(isSecure: isSecure), token.cookie, isSecure: isSecure, seconds: nil
        )
    }
}
