import Crypto
import CryptoExtras
import Foundation
import Testing

@testable import CipherStore

/// Published vectors, through the functions that the library uses.
@Suite struct KeyDerivationVectorTests {
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

    /// RFC 5869, test case 1.
    @Test func hkdfIsThatOfRFC5869() {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b")),
            salt: bytes("000102030405060708090a0b0c"), info: bytes("f0f1f2f3f4f5f6f7f8f9"),
            outputByteCount: 42)
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
    }

    /// RFC 6070, the vector of 4096 rounds.
    @Test func pbkdf2IsThatOfRFC6070() throws {
        let key = try KDF.Insecure.PBKDF2.deriveKey(
            from: Array("password".utf8), salt: Array("salt".utf8), using: .insecureSHA1, outputByteCount: 20,
            unsafeUncheckedRounds: 4096)
        #expect(key.withUnsafeBytes { Array($0) } == bytes("4b007901b765489abead49d926f721d065a429c1"))
    }
}
