import RecordModel
import RecordWire

/// One notification as JSON, as a client gets it from its courier (Protocol, "Subscriptions and
/// push").
struct PushFrame {
    /// The zone of the change, and the user who is notified of it.
    struct Scene: Hashable {
        let zone: ZoneKey
        let user: UserName
        let scope: DatabaseScope
    }

    let scene: Scene
    let subscription: WireSubscription
    /// The identifier of a notification. All frames of one change have the same one, so it does not
    /// distinguish frames.
    let notificationID: Text

    /// Returns the frame for a query subscription: this record.
    func record(_ name: RecordName, _ event: ChangeNotice.Event) -> [UInt8] {
        frame { ck in
            ck.member(
                "qry",
                object: { qry in
                    qry.member("sid", subscription.subscriptionID)
                    qry.member("rid", name)
                    qry.member("fo", event.frameNumber)
                    place(&qry)
                })
        }
    }

    /// Returns the frame for a zone subscription: something in the zone.
    func zone() -> [UInt8] {
        frame { ck in
            ck.member(
                "fet",
                object: { fet in
                    fet.member("sid", subscription.subscriptionID)
                    place(&fet)
                })
        }
    }

    /// Returns the frame for a database subscription: something in the database, with the zone for
    /// clients that ask for it.
    func database(namesZone: Bool) -> [UInt8] {
        frame { ck in
            ck.member(
                "met",
                object: { met in
                    met.member("sid", subscription.subscriptionID)
                    if namesZone {
                        place(&met)
                    } else {
                        met.member("dbs", scene.scope.frameNumber)
                    }
                })
        }
    }

    private func place(_ answer: inout AnswerWriter) {
        answer.member("zid", scene.zone.zone)
        answer.member("zoid", scene.zone.database.owner)
        answer.member("dbs", scene.scope.frameNumber)
    }

    private func frame(_ what: (inout AnswerWriter) -> Void) -> [UInt8] {
        AnswerWriter.object { frame in
            if let info = subscription.notificationInfo {
                frame.member("aps", object: { aps in Self.alert(info, &aps) })
            }
            frame.member(
                "ck",
                object: { ck in
                    ck.member("ce", 2)
                    ck.member("cid", scene.zone.database.container.container)
                    ck.member("nid", notificationID)
                    ck.member("ckuserid", scene.user)
                    ck.member("aux", object: { _ in })
                    what(&ck)
                })
        }
    }

    /// Writes the notificationInfo with the keys of a push notification.
    private static func alert(_ info: JSONValue, _ aps: inout AnswerWriter) {
        let parts = [
            ("title", "title"), ("subtitle", "subtitle"), ("body", "alertBody"),
            ("loc-key", "alertLocalizationKey"), ("loc-args", "alertLocalizationArgs"),
            ("action-loc-key", "alertActionLocalizationKey"),
            ("launch-image", "alertLaunchImage"),
        ].compactMap { key, source in info[source].map { (key, $0) } }.filter { !$0.1.isNull }
        if parts.count == 1, parts[0].0 == "body" {
            aps.member("alert", parts[0].1)
        } else if !parts.isEmpty {
            aps.member(
                "alert",
                object: { alert in
                    for (key, value) in parts { alert.member(key, value) }
                })
        }
        if info["shouldBadge"]?.bool == true { aps.member("badge", 1) }
        if let sound = info["soundName"]?.string { aps.member("sound", sound) }
        if let category = info["category"]?.string { aps.member("category", category) }
        if info["shouldSendContentAvailable"]?.bool == true { aps.member("content-available", 1) }
        if info["shouldSendMutableContent"]?.bool == true { aps.member("mutable-content", 1) }
    }
}

extension ChangeNotice.Event {
    /// The value of `fo` in a frame.
    fileprivate var frameNumber: Int {
        switch self {
        case .create: 1
        case .update: 2
        case .delete: 3
        }
    }

    /// The event as subscriptions name it.
    var wire: WireSubscription.Event {
        switch self {
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }
}
