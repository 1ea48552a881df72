import Crypto
import CryptoExtras
import Foundation
import TestSupport
import Testing

@testable import CipherStore

/// Published vectors, through the functions that the library uses.
@Suite(.anyEngine) struct KeyDerivationVectorTests {
    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.filter { !$0.isWhitespace }
        return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
        }
    }

    /// RFC 7914, section 12: the vector with r = 8 and p = 1. The library takes 32 of the 64 bytes,
    /// which PBKDF2 gives block by block.
    @Test func scryptIsThatOfRFC7914() throws {
        let cost = try ScryptCost(logN: 14)
        let secret = try SecretBytes(capacity: 13) { buffer in
            buffer.copyBytes(from: Array("pleaseletmein".utf8))
            return 13
        }
        let key = try cost.derive(from: secret, salt: Array("SodiumChloride".utf8))
        let expected = bytes("7023bdcb3afd7348461c06cd81fd38eb fda8fbba904f8e3ea9b543f6545da1f2")
        #expect(key.withUnsafeBytes { Array($0) } == expected)
    }

    /// RFC 5869, test cases 1 to 3: the last one has neither salt nor info, as some keys here have no salt.
    @Test func hkdfIsThatOfRFC5869() {
        func derive(_ key: String, _ salt: String, _ info: String, _ count: Int) -> [UInt8] {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes(key)), salt: bytes(salt), info: bytes(info),
                outputByteCount: count
            ).withUnsafeBytes { Array($0) }
        }
        let key = String(repeating: "0b", count: 22)
        #expect(
            derive(key, "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9", 42)
                == bytes(
                    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        func run(_ range: ClosedRange<UInt8>) -> String {
            range.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(
            derive(run(0...0x4f), run(0x60...0xaf), run(0xb0...0xff), 82)
                == bytes(
                    """
                    b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                    da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                    """))
        #expect(
            derive(key, "", "", 42)
                == bytes(
                    "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
    }

    /// RFC 5869, test case 1: the second of its two steps, which makes the keys that seal.
    @Test func hkdfExpandIsThatOfRFC5869() {
        let key = HKDF<SHA256>.expand(
            pseudoRandomKey: bytes("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"),
            info: bytes("f0f1f2f3f4f5f6f7f8f9"), outputByteCount: 42)
        let expected = bytes(
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        #expect(key.withUnsafeBytes { Array($0) } == expected)
    }

    /// RFC 8439, section 2.8.2.
    @Test func chaCha20Poly1305IsThatOfRFC8439() throws {
        let key = SymmetricKey(data: Array(UInt8(0x80)...UInt8(0x9f)))
        let text =
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        let box = try ChaChaPoly.seal(
            Array(text.utf8), using: key, nonce: ChaChaPoly.Nonce(data: bytes("070000004041424344454647")),
            authenticating: bytes("50515253c0c1c2c3c4c5c6c7"))
        #expect(Array(box.tag) == bytes("1ae10b594f09e26a7e902ecbd0600691"))
        #expect(Array(box.ciphertext.prefix(8)) == bytes("d31a8d34648e60db"))
        let aad = bytes("50515253c0c1c2c3c4c5c6c7")
        #expect(try ChaChaPoly.open(box, using: key, authenticating: aad) == Data(text.utf8))
        #expect(throws: (any Error).self) {
            try ChaChaPoly.open(box, using: key, authenticating: aad.dropLast())
        }
    }

    /// RFC 9180, appendix A.2.1: base mode, X25519, HKDF-SHA256, ChaCha20-Poly1305.
    @Test func hpkeIsThatOfRFC9180() throws {
        var recipient = try HPKE.Recipient(
            privateKey: Curve25519.KeyAgreement.PrivateKey(
                rawRepresentation: bytes("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb")),
            ciphersuite: ArchiveRecipient.ciphersuite,
            info: Data(bytes("4f6465206f6e2061204772656369616e2055726e")),
            encapsulatedKey: Data(
                bytes("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a")))
        let opened = try recipient.open(
            bytes(
                "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28"),
            authenticating: bytes("436f756e742d30"))
        #expect(String(decoding: opened, as: UTF8.self) == "Beauty is truth, truth beauty")
    }

    private func pbkdf2(
        _ function: KDF.Insecure.PBKDF2.HashFunction, _ password: String, _ salt: String, _ rounds: Int,
        _ count: Int
    ) throws -> [UInt8] {
        try KDF.Insecure.PBKDF2.deriveKey(
            from: Array(password.utf8), salt: Array(salt.utf8), using: function, outputByteCount: count,
            unsafeUncheckedRounds: rounds
        ).withUnsafeBytes { Array($0) }
    }

    /// RFC 6070, all vectors but that of 16,777,216 rounds.
    @Test func pbkdf2IsThatOfRFC6070() throws {
        func check(_ password: String, _ salt: String, _ rounds: Int, _ expected: String) throws {
            let key = try pbkdf2(.insecureSHA1, password, salt, rounds, expected.count / 2)
            #expect(key == bytes(expected), "\(rounds) rounds")
        }
        try check("password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6")
        try check("password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957")
        try check("password", "salt", 4096, "4b007901b765489abead49d926f721d065a429c1")
        try check(
            "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
            "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038")
        try check("pass\0word", "sa\0lt", 4096, "56fa6aa75548099dcc37d7f03425e0c3")
    }

    /// The inputs of RFC 6070 with SHA-512, as OpenSSL and Python's hashlib derive them.
    @Test func pbkdf2WithSHA512IsThatOfOthers() throws {
        #expect(
            try pbkdf2(.sha512, "password", "salt", 1, 64)
                == bytes(
                    """
                    867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252
                    c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce
                    """))
        #expect(
            try pbkdf2(.sha512, "password", "salt", 4096, 64)
                == bytes(
                    """
                    d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5
                    143f30602641b3d55cd335988cb36b84376060ecd532e039b742a239434af2d5
                    """))
    }
}
