import Crypto
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncMembers

@Suite(.anyEngine) struct KeyTests {
    private func recoveryKey(_ seed: UInt64) throws -> MembershipRecoveryKey {
        var random = SplitMix64(seed: seed)
        return try MembershipRecoveryKey(rawRepresentation: random.bytes(32))
    }

    @Test func aPrintedRecoveryKeyIsReadHoweverItIsTyped() throws {
        for seed in 0..<20 as Range<UInt64> {
            let key = try recoveryKey(seed)
            let text = key.text
            #expect(text.split(separator: "-").count == 14)
            #expect(text.split(separator: "-").allSatisfy { $0.count == 4 })
            let forms = [
                text, text.lowercased(), text.replacingOccurrences(of: "-", with: ""),
                text.replacingOccurrences(of: "-", with: "  "), " \(text)\n",
                text.replacingOccurrences(of: "0", with: "o").replacingOccurrences(of: "1", with: "l"),
            ]
            for form in forms {
                #expect(try MembershipRecoveryKey(form).rawRepresentation == key.rawRepresentation)
            }
        }
    }

    @Test func eachTypingErrorOfARecoveryKeyIsNoticed() throws {
        let text = Array(try recoveryKey(3).text)
        for index in text.indices where text[index] != "-" {
            var other = text
            other[index] = text[index] == "7" ? "8" : "7"
            #expect(throws: MembershipError.self) { try MembershipRecoveryKey(String(other)) }
            other.remove(at: index)
            #expect(throws: MembershipError.self) { try MembershipRecoveryKey(String(other)) }
        }
        for wrong in [
            "", "-", String(repeating: "0", count: 56), String(text) + "0", "U" + String(text.dropFirst()),
        ] {
            let error = #expect(throws: MembershipError.self) { try MembershipRecoveryKey(wrong) }
            #expect(error?.code == .recoveryKeyInvalid)
        }
    }

    @Test func keysThatWereKeptAreTheSame() throws {
        let keys = try MemberDeviceKeys()
        #expect(try MemberDeviceKeys(rawRepresentation: keys.rawRepresentation).card == keys.card)
        #expect(throws: MembershipError.self) { try MemberDeviceKeys(rawRepresentation: [1, 2, 3]) }
        #expect(throws: MembershipError.self) { try MembershipRecoveryKey(rawRepresentation: []) }
        #expect(try MemberDeviceKeys().card.id != keys.card.id)
    }

    @Test func theNameOfADeviceIsAHashOfBothKeys() throws {
        let (one, other) = (try MemberDeviceKeys().card, try MemberDeviceKeys().card)
        let mixed = try DeviceCard(signingKey: one.signingKey, agreementKey: other.agreementKey)
        #expect(mixed.id != one.id && mixed.id != other.id)
    }

    @Test func keysForWhichNothingCanBeWrappedAreRefused() throws {
        let signing = try MemberDeviceKeys().card.signingKey
        var points = [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)]
        // p - 1, p and p + 1.
        for last in [0xEC, 0xED, 0xEE] as [UInt8] {
            points.append([last] + [UInt8](repeating: 0xFF, count: 30) + [0x7F])
        }
        // Of order 8.
        for number in [
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ] {
            points.append(try #require(Hexadecimal.bytes(number, count: 32)))
        }
        for point in points {
            let card = try DeviceCard(signingKey: signing, agreementKey: point)
            #expect(throws: MembershipError.self) { try card.checkAgreement() }
            #expect(agreesOnZeros(point))
            // Numbers beside them are keys as others are.
            for other in [2, 3, 100] as [UInt8] {
                var beside = point
                beside[0] ^= other
                let card = try DeviceCard(signingKey: signing, agreementKey: beside)
                if points.contains(beside) { continue }
                #expect(throws: Never.self) { try card.checkAgreement() }
                #expect(!agreesOnZeros(beside))
            }
        }
        #expect(throws: MembershipError.self) {
            try DeviceCard(signingKey: signing, agreementKey: [UInt8](repeating: 0xFF, count: 32))
        }
        #expect(throws: MembershipError.self) { try DeviceCard(signingKey: signing, agreementKey: []) }
        try MemberDeviceKeys().card.checkAgreement()
    }

    /// Whether each private key makes zeros of a public one.
    private func agreesOnZeros(_ point: [UInt8]) -> Bool {
        (0..<4).allSatisfy { _ in
            guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: point),
                let secret = try? Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: key)
            else { return true }
            return secret.withUnsafeBytes { bytes in bytes.allSatisfy { $0 == 0 } }
        }
    }

    @Test func noDescriptionOrMirrorShowsASecret() throws {
        let keys = try MemberDeviceKeys()
        let recovery = try MembershipRecoveryKey()
        let epoch = EpochKey()
        let hidden: [[UInt8]] = [
            Array(keys.rawRepresentation.prefix(32)), Array(keys.rawRepresentation.suffix(32)),
            Array(recovery.rawRepresentation), Array(epoch.bytes),
            Array(recovery.keys.rawRepresentation.prefix(32)),
        ]
        var secrets: [String] = [String(recovery.text.prefix(14))]
        for bytes in hidden {
            secrets.append(String(Hexadecimal.text(bytes).prefix(16)))
            secrets.append(String("\(Array(bytes.prefix(6)))".dropFirst().dropLast()))
        }
        var texts = [String(describing: keys), String(describing: recovery), String(describing: epoch)]
        texts += [String(reflecting: keys), String(reflecting: recovery), String(reflecting: epoch)]
        for value in [keys, recovery, epoch] as [Any] {
            var text = ""
            dump(value, to: &text)
            dump([value], to: &text)
            texts.append(text)
        }
        for text in texts {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        let typed = "SECRET-\(recovery.text)"
        let error = #expect(throws: MembershipError.self) { try MembershipRecoveryKey(typed) }
        #expect(error?.description.contains(recovery.text.prefix(4)) == false)
    }
}
