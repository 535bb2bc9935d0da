import RecordModel
import RecordServerCore
import Testing

@Suite("Callback URLs")
struct CallbackURLTests {
    @Test(
        "an address that a person can be sent to is taken",
        arguments: [
            "https://app.example.org", "https://app.example.org/", "https://app.example.org:8443/a",
            "https://app.example.org/callback?state=1", "http://127.0.0.1",
            "http://127.0.0.1:8000/x",
            "http://localhost:3000/", "http://[::1]:3000/", "org.example.app://signed-in",
            "cloudkit-icloud.org.example.app://x", "https://[2001:db8::1]/",
        ])
    func good(_ text: String) {
        #expect(CallbackURL(Text(text)) != nil)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "app.example.org", "//app.example.org", "http://app.example.org/",
            "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "file:///etc/passwd",
            "vbscript:x", "blob:https://a/b", "https:app.example.org", "https:/app.example.org",
            "https://", "https://user@app.example.org/", "https://app.example.org@evil.example/",
            "https://app.example.org\\@evil.example/", "https://app.example.org/#x",
            "https://app.example.org/ x", "https://app.example.org/\r\nSet-Cookie:a=b",
            "https://app.example.org/\"><script>", "https://äpp.example.org/",
            "https://app.example.org:0/", "https://app.example.org:99999/",
            "https://app.example.org:+80/", "http://127.0.0.1.evil.example/",
            "http://127.0.0.2/", "http://127.1/", "https://app%2eexample.org/",
            "https://app.example.org;x/", "view-source:https://a/", "1a://x", "https://[evil]/",
        ])
    func bad(_ text: String) {
        #expect(CallbackURL(Text(text)) == nil)
    }
}
