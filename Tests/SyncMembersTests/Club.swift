import Foundation
import SyncMembers
import SyncWire

/// A person with a device.
struct Person {
    let member: MemberID
    let keys: MemberDeviceKeys

    var device: DeviceID { keys.card.id }
}

/// A membership in which tests say things. All keys and names follow from a seed.
struct Club {
    static let store = StoreID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

    private var random: SplitMix64
    let recovery: MembershipRecoveryKey
    let founder: Person
    let found: SignedStatement

    init(seed: UInt64 = 1) throws {
        var random = SplitMix64(seed: seed)
        recovery = try MembershipRecoveryKey(rawRepresentation: random.bytes(32))
        founder = try Self.person(&random)
        found = try MembershipState.found(
            Self.store, member: founder.member, name: MemberName("Ada"), keys: founder.keys,
            recovery: recovery.card)
        self.random = random
    }

    private static func person(_ random: inout SplitMix64) throws -> Person {
        Person(member: random.identifier(), keys: try MemberDeviceKeys(rawRepresentation: random.bytes(64)))
    }

    mutating func person() throws -> Person { try Self.person(&random) }

    mutating func recoveryKey() throws -> MembershipRecoveryKey {
        try MembershipRecoveryKey(rawRepresentation: random.bytes(32))
    }

    mutating func identifier() -> Identifier128 { random.identifier() }

    /// What somebody says who knows some statements and all before them.
    func says(
        _ person: Person, _ kind: StatementKind, after parents: SignedStatement...
    ) throws -> SignedStatement {
        let statement = try Statement(
            store: Self.store, issuer: .device(person.keys.card), parents: parents.map(\.id), kind: kind)
        return try SignedStatement(statement, by: person.keys)
    }

    func adds(
        _ person: Person, _ role: MemberRole, by issuer: Person, after parents: SignedStatement...
    ) throws -> SignedStatement {
        let new = NewMember(
            member: person.member, name: try MemberName("somebody"), role: role, device: person.keys.card)
        let statement = try Statement(
            store: Self.store, issuer: .device(issuer.keys.card), parents: parents.map(\.id),
            kind: .addMember(new))
        return try SignedStatement(statement, by: issuer.keys)
    }

    func recovers(
        _ person: Person, with key: MembershipRecoveryKey? = nil, successor: RecoveryCard? = nil,
        after parents: SignedStatement...
    ) throws -> SignedStatement {
        let key = key ?? recovery
        let content = Recovery(
            member: person.member, name: try MemberName("rescued"), device: person.keys.card,
            successor: successor)
        let statement = try Statement(
            store: Self.store, issuer: .recovery(key.card), parents: parents.map(\.id),
            kind: .recover(content))
        return try SignedStatement(statement, by: key)
    }

    func state(_ statements: SignedStatement...) throws -> MembershipState { try state(of: statements) }

    func state(of statements: [SignedStatement]) throws -> MembershipState {
        try MembershipState(store: Self.store, founding: found.id, statements: statements)
    }
}

extension SplitMix64 {
    mutating func identifier() -> Identifier128 { Identifier128(high: next(), low: next()) }
}

extension MembershipState {
    func role(of person: Person) -> MemberRole? { members[person.member]?.role }

    func isActive(_ person: Person) -> Bool { devices[person.device]?.isActive == true }
}
