import Crypto
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

/// What other programs are held to. With CIPHERSTORE_WRITE_VECTORS in the environment, the file is written
/// anew: the wrapped keys of epochs are random.
@Suite(.anyEngine) struct VectorTests {
    init() throws {
        guard ProcessInfo.processInfo.environment["CIPHERSTORE_WRITE_VECTORS"] == "membership" else { return }
        let story = try VectorStory()
        try Self.vectors(
            story, Dictionary(uniqueKeysWithValues: story.statements.map { ($0.name, $0.statement) })
        )
        .write()
    }

    private static let salt: [UInt8] = [0, 1, 2, 3]

    private static func keys(_ name: String, _ secret: [UInt8], _ card: DeviceCard) -> MembershipVectors.Keys
    {
        MembershipVectors.Keys(
            name: name, secret: Hexadecimal.text(secret), signingKey: Hexadecimal.text(card.signingKey),
            agreementKey: Hexadecimal.text(card.agreementKey), id: card.id.description)
    }

    /// The vectors of a story, told with these statements.
    private static func vectors(
        _ story: VectorStory, _ statements: [String: SignedStatement]
    ) throws -> MembershipVectors {
        var recovery = keys("recovery", story.club.recovery.rawRepresentation, story.club.recovery.card)
        recovery.text = story.club.recovery.text
        let names = Dictionary(uniqueKeysWithValues: statements.map { ($1.id, $0) })
        return MembershipVectors(
            store: Club.store.description, founding: story.club.found.id.description,
            devices: story.people.map { keys($0.name, $0.keys.rawRepresentation, $0.keys.card) },
            recovery: recovery,
            statements: try story.statements.map { entry in
                let statement = try #require(statements[entry.name])
                return MembershipVectors.Statement(
                    name: entry.name, id: statement.id.description, bytes: Hexadecimal.text(statement.bytes))
            },
            refused: refused(story),
            states: try story.states.map { entry in
                let state = try story.club.state(of: entry.statements.map { try #require(statements[$0]) })
                return try vector(of: state, entry.name, entry.statements, names)
            },
            epochKeys: try epochKeys(story, statements))
    }

    private static func vector(
        of state: MembershipState, _ name: String, _ statements: [String], _ names: [StatementID: String]
    ) throws -> MembershipVectors.State {
        var vector = MembershipVectors.State(
            name: name, statements: statements, members: [:],
            activeDevices: state.devices.filter(\.value.isActive).map(\.key.description).sorted(),
            replicas: [:], uncounted: [:], heads: state.heads.compactMap { names[$0] }.sorted(),
            currentEpoch: state.currentEpoch.flatMap { names[$0] }, isEpochDue: state.isEpochDue)
        for (id, member) in state.members { vector.members[id.description] = member.role?.description ?? "" }
        for (id, replica) in state.replicas { vector.replicas[id.description] = String(replica.lastSequence) }
        for (id, reason) in state.uncounted { vector.uncounted[try #require(names[id])] = reason.word }
        return vector
    }

    private static func epochKeys(
        _ story: VectorStory, _ statements: [String: SignedStatement]
    ) throws -> [MembershipVectors.EpochKey] {
        let known = try #require(story.states.first { $0.name == "later removals" }).statements
        let state = try story.club.state(of: known.map { try #require(statements[$0]) })
        var rings: [(name: String, ring: EpochKeyring)] = []
        for person in story.people {
            var ring = EpochKeyring()
            ring.open(state, with: person.keys)
            rings.append((person.name, ring))
        }
        var rescue = EpochKeyring()
        rescue.open(state, with: story.club.recovery)
        rings.append(("recovery", rescue))
        return try ["epoch 1", "epoch 2", "epoch 3"].map { name in
            let id = try #require(statements[name]).id
            let key = try #require(rescue[id])
            let subkey = key.subkey(for: "files", salt: salt).withUnsafeBytes { Array($0) }
            return MembershipVectors.EpochKey(
                epoch: name, openedBy: rings.filter { $0.ring[id] != nil }.map(\.name),
                key: Hexadecimal.text(key.bytes), subkey: Hexadecimal.text(subkey))
        }
    }

    private static func refused(_ story: VectorStory) -> [MembershipVectors.Refused] {
        let bytes = story.club.found.bytes
        var list: [MembershipVectors.Refused] = []
        func refuse(_ why: String, _ code: MembershipError.Code, _ bytes: [UInt8]) {
            list.append(
                MembershipVectors.Refused(why: why, code: code.rawValue, bytes: Hexadecimal.text(bytes)))
        }
        func changed(_ index: Int, _ value: UInt8) -> [UInt8] {
            var bytes = bytes
            bytes[index] = value
            return bytes
        }
        refuse("no statement", .malformed, changed(0, 0))
        refuse("another version", .newerProgramNeeded, changed(4, 2))
        refuse("another kind", .newerProgramNeeded, changed(5, 10))
        refuse("another issuer", .newerProgramNeeded, changed(22, 3))
        refuse("another database", .signatureInvalid, changed(6, bytes[6] ^ 1))
        refuse("another signature", .signatureInvalid, changed(bytes.count - 1, bytes[bytes.count - 1] ^ 1))
        refuse("cut off", .malformed, Array(bytes.dropLast()))
        return list
    }

    @Test func theFileSaysWhatThisProgramDoes() throws {
        let file = try MembershipVectors.load()
        let story = try VectorStory()
        var statements: [String: SignedStatement] = [:]
        for vector in file.statements {
            let statement = try SignedStatement(bytes: Hex.bytes(vector.bytes))
            #expect(statement.id.description == vector.id, "\(vector.name)")
            statements[vector.name] = statement
        }
        let found = try Self.vectors(story, statements)
        #expect(found.states == file.states)
        #expect(found.epochKeys == file.epochKeys)
        #expect(found == file)
        #expect(file.states.count >= 14 && file.statements.count >= 29)
    }

    @Test func whatTheFileSaysIsRefusedIsRefused() throws {
        for vector in try MembershipVectors.load().refused {
            let error = #expect(throws: MembershipError.self, "\(vector.why)") {
                try SignedStatement(bytes: Hex.bytes(vector.bytes))
            }
            #expect(error?.code.rawValue == vector.code, "\(vector.why)")
        }
    }

    @Test func theSameStatementHasTheSameBytes() throws {
        // Signatures are deterministic. Only keys of epochs are not, and what comes after one names it.
        let file = try MembershipVectors.load()
        for (name, statement) in try VectorStory().statements.prefix(4) {
            let vector = try #require(file.statements.first { $0.name == name })
            #expect(Hexadecimal.text(statement.bytes) == vector.bytes, "\(name)")
        }
    }

    @Test func keysAreThoseOfTheFile() throws {
        let file = try MembershipVectors.load()
        for vector in file.devices {
            let keys = try MemberDeviceKeys(rawRepresentation: Hex.bytes(vector.secret))
            #expect(keys.card.id.description == vector.id)
            #expect(Hexadecimal.text(keys.card.signingKey) == vector.signingKey)
        }
        let recovery = try MembershipRecoveryKey(try #require(file.recovery.text))
        #expect(Hexadecimal.text(recovery.rawRepresentation) == file.recovery.secret)
        #expect(recovery.card.id.description == file.recovery.id)
    }
}
