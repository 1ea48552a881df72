import CipherStore
import SyncMembers
import SyncWire

/// What makes a store a device of a member: the name of the founding statement, and the keys of a device for one use.
///
/// Whoever has it first is the member, so it goes a way that others do not see. It stays secret afterwards: removals that its
/// keys sign count whenever they come. Descriptions and mirrors do not show it.
public struct MembershipInvitation: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The statement that founded the membership: nobody can put another one in its place.
    public let founding: StatementID
    /// The keys of the device for one use.
    let keys: MemberDeviceKeys
    /// The database, which tells whose files are meant in a place where others leave some; nil in invitations by older programs.
    let store: StoreID?

    /// How many bytes ``rawRepresentation`` has.
    public static let byteCount = byteCountWithoutStore + 16
    /// How many it has in an invitation by an older program, which does not name the database.
    package static let byteCountWithoutStore = StatementID.byteCount + MemberDeviceKeys.byteCount

    init(founding: StatementID, keys: MemberDeviceKeys, store: StoreID?) {
        (self.founding, self.keys, self.store) = (founding, keys, store)
    }

    /// Takes an invitation that was sent.
    ///
    /// - throws: A `MembershipError` of code `malformed` or `keyInvalid`.
    public init(rawRepresentation bytes: [UInt8]) throws {
        guard bytes.count == Self.byteCount || bytes.count == Self.byteCountWithoutStore,
            let founding = StatementID(Array(bytes[..<StatementID.byteCount]))
        else { throw MembershipError(.malformed, "an invitation has \(Self.byteCount) bytes") }
        let keys = bytes[StatementID.byteCount..<Self.byteCountWithoutStore]
        let store = Array(bytes[Self.byteCountWithoutStore...])
        self.init(
            founding: founding, keys: try MemberDeviceKeys(rawRepresentation: Array(keys)),
            store: store.isEmpty ? nil : store.withUnsafeBytes { StoreID(bytes: $0) })
    }

    /// The secret bytes, to be sent to whoever is invited, and to be kept nowhere.
    public var rawRepresentation: [UInt8] { founding.bytes + keys.rawRepresentation + (store?.bytes ?? []) }

    /// What it is, and no key.
    public var description: String { "invitation of \(keys.card)" }
    /// The same.
    public var debugDescription: String { description }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: Acceptance

    /// Checks that the device for one use takes part.
    ///
    /// - throws: ``SyncError`` of code `notMember`.
    func requireActive(_ record: MembershipRecord) throws {
        let device = record.state.devices[keys.card.id]
        guard let device else {
            throw SyncError(
                .notMember,
                "the statement that invites this device is not here yet; try again later, or ask for a new invitation"
            )
        }
        guard device.isActive else {
            throw SyncError(.notMember, "the invitation was used, or taken back; ask for a new one")
        }
    }

    /// Makes a store a device of the member, in the transaction that is open: with keys that nobody else has had.
    ///
    /// - parameters:
    ///     - record: What is known of the members, with the device for one use.
    ///     - known: What the store knows of the same members already. It is left out where both together would be too much.
    func accept(
        _ record: MembershipRecord, beside known: MembershipRecord? = nil, in db: Database,
        _ environment: SyncEnvironment
    ) throws {
        var record = record
        if let known { try Self.add(known, to: &record, in: db) }
        try requireActive(record)
        guard let member = record.state.devices[keys.card.id]?.member else { return }
        record.use(keys)
        let device = try MemberDeviceKeys()
        _ = try record.say(.addDevice(NewDevice(member: member, device: device.card)))
        record.use(device)
        // Who else has seen the keys for one use can't say anything any more that counts, but for removals.
        _ = try record.say(.removeDevice(DeviceRemoval(device: keys.card.id, cutOffs: [:])))
        if record.makesEpoch { _ = try record.sayEpochs() }
        if try StatementLedger.founding(db) != founding {
            try MemberSecrets.removeAll(db)
            try StatementFiles.removeAll(db)
        }
        try StatementLedger.setFounding(db, founding)
        try MemberSecrets.setDevice(db, device)
        try record.saveAll(db, at: environment.milliseconds())
    }

    /// Adds what a store knows already to what the mailbox has.
    private static func add(
        _ known: MembershipRecord, to record: inout MembershipRecord, in db: Database
    ) throws {
        do throws(MembershipError) {
            _ = try record.take(Array(known.state.statements.values))
        } catch {
            // What is forgotten may be in files that were read, and have to be read again.
            try StatementFiles.removeAll(db)
        }
    }
}
