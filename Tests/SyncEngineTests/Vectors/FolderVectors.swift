import CipherStore
import Foundation
import SyncMembers
import SyncWire
import Testing

@testable import SyncEngine

/// The content of `Schemas/folder/vectors.json`. Bytes are in hexadecimal.
struct FolderVectors: Codable, Equatable {
    /// What a reader makes of a head.
    struct Head: Codable, Equatable {
        var name: String
        /// The subfolder.
        var replica: String
        /// The members that are known, by the name of a state of `Schemas/membership/vectors.json`; absent in a database
        /// without members.
        var state: String?
        var file: String
        /// `taken`; a reason not to; `invalid` when it can't be read, and `newerFormat`.
        var outcome: String
        /// What it says, where it can be read.
        var generation: Int64?
        var vector: [String: Int64]?
        var bundles: [String]?
        var device: String?
    }

    /// What a reader finds in a file of statements.
    struct StatementFile: Codable, Equatable {
        var name: String
        var file: String
        /// The statements, by their names in `Schemas/membership/vectors.json`; absent for a file that is refused.
        var statements: [String]?
        var leftOut: Int?
    }

    var passphrase: String
    /// The epoch of signed heads, with what seals them.
    var epoch: String
    var epochPassphrase: String
    var epochSalt: String
    var heads: [Head]
    var statementFiles: [StatementFile]

    private static var schemas: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Schemas")
    }

    private static let url = schemas.appendingPathComponent("folder/vectors.json")

    static func load() throws -> FolderVectors {
        try JSONDecoder().decode(FolderVectors.self, from: Data(contentsOf: url))
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: Self.url)
    }

    // MARK: The members

    /// The people and statements of `Schemas/membership/vectors.json`.
    struct Membership: Decodable {
        struct Device: Decodable {
            let name: String
            let secret: String
        }
        struct Named: Decodable {
            let name: String
            let bytes: String
        }
        struct Refused: Decodable {
            let why: String
            let bytes: String
        }
        struct State: Decodable {
            let name: String
            let statements: [String]
        }

        let store: String
        let founding: String
        let devices: [Device]
        let statements: [Named]
        let refused: [Refused]
        let states: [State]

        static func load() throws -> Membership {
            let url = FolderVectors.schemas.appendingPathComponent("membership/vectors.json")
            return try JSONDecoder().decode(Membership.self, from: Data(contentsOf: url))
        }

        func storeID() throws -> StoreID { try #require(Identifier128(hexadecimal: store)) }

        func keys(_ name: String) throws -> MemberDeviceKeys {
            let device = try #require(devices.first { $0.name == name })
            return try MemberDeviceKeys(rawRepresentation: FolderVectors.bytes(device.secret))
        }

        func statement(_ name: String) throws -> SignedStatement {
            let statement = try #require(statements.first { $0.name == name })
            return try SignedStatement(bytes: FolderVectors.bytes(statement.bytes))
        }

        /// What a device of a member knows.
        func record(_ name: String, device: String) throws -> MembershipRecord {
            let state = try #require(states.first { $0.name == name })
            return MembershipRecord(
                try MembershipState(
                    store: storeID(), founding: statement("found").id,
                    statements: state.statements.map(statement)), device: try keys(device))
        }
    }

    static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - digits.count % 2, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
