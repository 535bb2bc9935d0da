/// A relationship of an entity to objects of another, or of the same.
package struct Relationship: Hashable, Sendable {
    /// The effect of a deletion on the objects at the other side.
    package enum DeleteRule: String, CaseIterable, Hashable, Sendable {
        case nullify = "Nullify"
        case cascade = "Cascade"
        case deny = "Deny"
        case noAction = "No Action"
    }

    package var name: String
    package var destination: String
    /// The relationship of the destination that leads back.
    package var inverse: String?
    package var isToMany: Bool
    package var isOptional: Bool
    package var isOrdered: Bool
    package var minimumCount: Int?
    /// The largest number of objects. Nil where there is no limit, and for a to-one relationship.
    package var maximumCount: Int?
    package var deleteRule: DeleteRule
    /// The name in the model version before (`elementID`).
    package var renamedFrom: String?
    package var userInfo: [UserInfo]
    package var xcode: XcodeDetails

    package init(
        name: String, destination: String, inverse: String? = nil, isToMany: Bool = false,
        isOptional: Bool = true, isOrdered: Bool = false, minimumCount: Int? = nil,
        maximumCount: Int? = nil, deleteRule: DeleteRule = .nullify, renamedFrom: String? = nil,
        userInfo: [UserInfo] = [], xcode: XcodeDetails = XcodeDetails()
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.isToMany = isToMany
        self.isOptional = isOptional
        self.isOrdered = isOrdered
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.deleteRule = deleteRule
        self.renamedFrom = renamedFrom
        self.userInfo = userInfo
        self.xcode = xcode
    }
}
