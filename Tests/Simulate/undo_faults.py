"""Faults of undo, for faults.py: looked for in histories of machines that take their steps back."""

RECORDS = "Sources/RecordStore/Undoing/RecordUndoing+Records.swift"

FAULTS = [
    (
        "an undo puts the whole former version back, over what others have edited since",
        RECORDS,
        "        if isUntouched {\n            _ = try",
        "        if isUntouched || change.last != nil {\n            _ = try",
    ),
    (
        "fields that somebody has changed since are taken back too",
        RECORDS,
        "let fields = change.fields.filter { own.contains($0) && !changedSince.contains($0) }",
        "let fields = change.fields.filter { own.contains($0) || changedSince.contains($0) }",
    ),
    (
        "an undo removes a record that somebody has edited since it was made",
        RECORDS,
        "if !isUntouched, try !hasSameValues(change, current) {",
        "if !isUntouched, change.last == nil {",
    ),
]
