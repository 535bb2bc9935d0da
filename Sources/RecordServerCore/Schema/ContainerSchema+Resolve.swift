package import RecordModel
package import RecordWire

extension ContainerSchema {
    /// Returns the fields with the types of the schema, and, when this schema had to grow
    /// (development only), the schema that has them all. The caller continues with that schema, and
    /// saves it at the end.
    ///
    /// An empty list of unknown type and a null introduce nothing.
    ///
    /// - Parameter opensNumbers: a new field of numbers takes whole numbers and fractions from now
    ///   on.
    ///
    /// Errors: BAD_REQUEST that names the field; LIMIT_EXCEEDED for too many types, or fields of
    /// one type.
    package func resolve(
        type: RecordTypeName, fields: [WireField], environment: ServerEnvironment,
        settings: ServiceSettings, opensNumbers: Bool = false
    ) throws(ServerError) -> (fields: [WireField], grown: ContainerSchema?) {
        let known = self.type(type)
        if known == nil { try requireNewType(type, environment, settings) }
        var resolved: [WireField] = []
        resolved.reserveCapacity(fields.count)
        var added: [SchemaDocument.Field] = []
        for field in fields {
            if let definition = known?.field(field.name), !definition.isSystem {
                resolved.append(
                    try field.fitted(
                        to: definition, of: type, isStrict: settings.isStrict))
                continue
            }
            guard field.value != nil else {
                // It clears an empty list whose element type is not known.
                resolved.append(field)
                continue
            }
            try requireNewField(field, type, environment)
            guard var definition = try Self.definition(for: field, of: type) else {
                resolved.append(field)
                continue
            }
            if opensNumbers { definition = definition.openForNumbers }
            added.append(definition)
            resolved.append(
                try field.fitted(
                    to: definition, of: type, isStrict: settings.isStrict))
        }
        guard known == nil || !added.isEmpty else { return (resolved, nil) }
        let grown = adding(added, to: type)
        let count = grown.type(type)?.clientFieldCount ?? 0
        guard count <= settings.fieldsPerType else {
            throw ServerError(
                .limitExceeded,
                "Record type '\(type)' would have \(count) fields; a type has at most "
                    + "\(settings.fieldsPerType).")
        }
        return (resolved, grown)
    }

    private func requireNewType(
        _ type: RecordTypeName, _ environment: ServerEnvironment, _ settings: ServiceSettings
    ) throws(ServerError) {
        guard type.isValid else {
            throw ServerError(
                .badRequest,
                "'\(type)' cannot be the name of a record type: it has letters, digits and _, "
                    + "no digit first, and at most \(RecordTypeName.maximumBytes) bytes.")
        }
        guard environment == .development else {
            throw ServerError(
                .badRequest, "Cannot create new type \(type) in production schema")
        }
        guard typeCount < settings.typesPerContainer else {
            throw ServerError(
                .limitExceeded,
                "The schema has \(settings.typesPerContainer) record types, and makes no more.")
        }
    }

    private func requireNewField(
        _ field: WireField, _ type: RecordTypeName, _ environment: ServerEnvironment
    ) throws(ServerError) {
        guard SchemaDocument.isFieldName(field.name, of: type) else {
            throw ServerError(
                .badRequest,
                "'\(field.name)' cannot be the name of a field: it has letters, digits and _, a "
                    + "letter first, and at most \(FieldName.maximumBytes) bytes.")
        }
        guard environment == .development else {
            throw ServerError(
                .badRequest,
                "Cannot create or modify field '\(field.name)' in record '\(type)' in production "
                    + "schema")
        }
    }

    /// Returns the definition that development makes of a new field: all indexes that its type
    /// allows. Returns nil when the value does not show its type.
    private static func definition(
        for field: WireField, of type: RecordTypeName
    ) throws(ServerError) -> SchemaDocument.Field? {
        guard let fieldType = field.type else { return nil }
        var definition = RecordSchema.Field(name: field.name, type: fieldType)
        if field.isEncrypted {
            let element = if case .list(let element) = fieldType { element } else { fieldType }
            switch element {
            case .reference, .asset, .json, .list:
                throw ServerError(
                    .badRequest,
                    "The field '\(field.name)' is \(fieldType.name), which cannot be "
                        + "encrypted.")
            case .string, .int64, .double, .timestamp, .bytes, .location:
                definition = RecordSchema.Field(
                    name: field.name, type: fieldType, isQueryable: false, isSortable: false,
                    isSearchable: false, isEncrypted: true)
            }
        }
        return SchemaDocument.Field(definition)
    }
}

extension WireField {
    /// Returns the field with the type that the schema gives it.
    func fitted(
        to definition: SchemaDocument.Field, of type: RecordTypeName, isStrict: Bool
    ) throws(ServerError) -> WireField {
        guard value != nil else { return self }
        guard !isEncrypted || definition.field.isEncrypted else {
            throw ServerError(
                .badRequest,
                "The field '\(name)' of record type '\(type)' is not ENCRYPTED in the schema.")
        }
        var fitted = try plain(definition, isStrict: isStrict)
        fitted.isEncrypted = definition.field.isEncrypted
        return fitted
    }

    private func plain(
        _ definition: SchemaDocument.Field, isStrict: Bool
    ) throws(ServerError) -> WireField {
        guard definition.number == .open else {
            return try coerced(to: definition.type, isStrict: isStrict)
        }
        // Whole numbers stay whole among the fractions of a NUMBER.
        switch (definition.type, type) {
        case (.double, .int64), (.list, .list(.int64)): return self
        default: return try coerced(to: definition.type, isStrict: isStrict)
        }
    }
}

extension SchemaDocument.Field {
    /// The definition of a field of INT64 or DOUBLE, or of a list of them, as `NUMBER`.
    fileprivate var openForNumbers: SchemaDocument.Field {
        guard !field.isEncrypted else { return self }
        let open: FieldType
        switch type {
        case .int64, .double: open = .double
        case .list(.int64), .list(.double): open = .list(.double)
        default: return self
        }
        return SchemaDocument.Field(RecordSchema.Field(name: name, type: open), number: .open)
    }
}
