/// What becomes of the records of a type that violate a constraint.
public struct PersistenceConflictPolicy: Sendable {
    /// For records that are inserted.
    public let conflictResolutionForInsert: Database.ConflictResolution

    /// For records that are updated.
    public let conflictResolutionForUpdate: Database.ConflictResolution

    /// Makes a policy.
    public init(insert: Database.ConflictResolution = .abort, update: Database.ConflictResolution = .abort) {
        conflictResolutionForInsert = insert
        conflictResolutionForUpdate = update
    }
}
