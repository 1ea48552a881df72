import Foundation
import SyncWire

@testable import SyncMembers

/// The content of `Schemas/membership/vectors.json`. Bytes are in hexadecimal, sequences decimal text.
struct MembershipVectors: Codable, Equatable {
    struct Keys: Codable, Equatable {
        var name: String
        var secret: String
        var signingKey: String
        var agreementKey: String
        var id: String
        /// As it is printed; of the recovery key only.
        var text: String?
    }
    struct Statement: Codable, Equatable {
        var name: String
        var id: String
        var bytes: String
    }
    struct Refused: Codable, Equatable {
        var why: String
        var code: String
        var bytes: String
    }
    struct State: Codable, Equatable {
        var name: String
        var statements: [String]
        /// Roles by member; an empty text for one that was removed.
        var members: [String: String]
        var activeDevices: [String]
        /// The last change that counts, by replica.
        var replicas: [String: String]
        /// Why statements do not count, by their names here.
        var uncounted: [String: String]
        var heads: [String]
        var currentEpoch: String?
        var isEpochDue: Bool
    }
    struct EpochKey: Codable, Equatable {
        var epoch: String
        /// Who opens it, by their names here.
        var openedBy: [String]
        var key: String
        var subkey: String
    }

    var store: String
    var founding: String
    var devices: [Keys]
    var recovery: Keys
    var statements: [Statement]
    var refused: [Refused]
    var states: [State]
    /// The subkey is for the use `files` with the salt 00 01 02 03.
    var epochKeys: [EpochKey]

    static let url = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Schemas/membership/vectors.json")

    static func load() throws -> MembershipVectors {
        try JSONDecoder().decode(MembershipVectors.self, from: Data(contentsOf: url))
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: Self.url)
    }
}

extension UncountedReason {
    /// The word of the vectors.
    var word: String {
        switch self {
        case .foundedElsewhere: "foundedElsewhere"
        case .issuerUnknown: "issuerUnknown"
        case .roleTooLow: "roleTooLow"
        case .targetUnknown: "targetUnknown"
        case .alreadyThere: "alreadyThere"
        case .full: "full"
        case .epochWrong: "epochWrong"
        case .recoveryKeyWrong: "recoveryKeyWrong"
        case .issuerRemoved: "issuerRemoved"
        case .authorityLost: "authorityLost"
        case .otherRecovery: "otherRecovery"
        }
    }
}

enum Hex {
    static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - digits.count % 2, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
