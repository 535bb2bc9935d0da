import RecordControl
import RecordModel
import RecordSync

extension LocatedPath {
    /// Returns the server's answer to a request about shares.
    func ask(_ request: SharingRequest) throws -> JSONValue {
        try store.perform(.sharing(request), about: text).result
    }
}

extension PathArgument {
    func change(_ edit: ShareEdit, _ state: StateOptions, json: Bool = false) throws {
        let place = try located(by: state)
        let share = try place.ask(.change(place.path, edit.json))
        if json { Showing.json(share) }
    }

    func change(
        _ edit: ShareEdit, _ state: StateOptions, _ rehearsal: RehearsalOptions
    ) throws {
        let place = try located(by: state)
        guard rehearsal.dryRun else {
            // The people who lose access without being named.
            let loses =
                edit.publicPermission == nil
                ? [] : try place.ask(.preview(place.path, edit.json))["loses"]?.array ?? []
            try change(edit, state, json: rehearsal.json)
            for person in loses {
                Terminal.error(
                    "\(ShareWords.name(of: person)) lost access, and is not invited.")
            }
            return
        }
        try place.rehearse(.change(edit), json: rehearsal.json)
    }
}
