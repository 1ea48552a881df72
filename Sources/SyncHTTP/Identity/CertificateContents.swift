import Crypto
import Foundation
import SwiftASN1

/// What an X.509 certificate of a P-256 key says, and its form in DER (RFC 5280).
///
/// A store's server needs one certificate that vouches for itself, and the dates and names of those that it is
/// given: three structures of RFC 5280. A whole library of certificates would compile for longer than all of
/// SyncHTTP (docs/decisions/0014-release-build.md).
struct CertificateContents {
    /// The common name of who signs.
    var issuer: String
    /// The common name of who is certified.
    var subject: String
    /// The whole seconds from and to which it is valid, from 1970 to 9999.
    var validity: ClosedRange<Date>
    /// The key that is certified.
    var publicKey: P256.Signing.PublicKey
    /// Whether the key may sign certificates of others.
    var isAuthority = false
    /// The host names and addresses that it is for.
    var hosts: [Host] = []

    /// A name by which clients reach a server.
    enum Host {
        /// A name of the domain name system, in ASCII.
        case name(String)
        /// An IP address: 4 or 16 bytes in network byte order.
        case address([UInt8])
    }

    /// The certificate in DER, signed by a key of the issuer.
    func signed(by key: P256.Signing.PrivateKey) throws -> [UInt8] {
        var body = DER.Serializer()
        try serialize(into: &body)
        let signature = try key.signature(for: body.serializedBytes)
        var certificate = DER.Serializer()
        try certificate.appendConstructedNode(identifier: .sequence) { certificate in
            certificate.serializeRawBytes(body.serializedBytes)
            try serializeAlgorithm(into: &certificate)
            try certificate.serialize(ASN1BitString(bytes: Array(signature.derRepresentation)[...]))
        }
        return certificate.serializedBytes
    }

    /// TBSCertificate (section 4.1).
    private func serialize(into body: inout DER.Serializer) throws {
        // The first bit is cleared and the next set: positive, and of one length (section 4.1.2.2).
        var serial = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        serial[0] = serial[0] & 0x7F | 0x40
        try body.appendConstructedNode(identifier: .sequence) { body in
            try body.serialize(2, explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific)
            body.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: serial) }
            try serializeAlgorithm(into: &body)
            try serialize(name: issuer, into: &body)
            try body.appendConstructedNode(identifier: .sequence) { validity in
                try serialize(time: self.validity.lowerBound, into: &validity)
                try serialize(time: self.validity.upperBound, into: &validity)
            }
            try serialize(name: subject, into: &body)
            body.serializeRawBytes(publicKey.derRepresentation)
            let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
            try body.appendConstructedNode(identifier: tag) { tagged in
                try tagged.appendConstructedNode(identifier: .sequence, serializeExtensions)
            }
        }
    }

    /// ecdsa-with-SHA256 (RFC 5758, section 3.2).
    private func serializeAlgorithm(into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { algorithm in
            try algorithm.serialize([1, 2, 840, 10_045, 4, 3, 2] as ASN1ObjectIdentifier)
        }
    }

    private func serialize(name: String, into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { names in
            try names.appendConstructedNode(identifier: .set) { set in
                try set.appendConstructedNode(identifier: .sequence) { attribute in
                    try attribute.serialize(ASN1ObjectIdentifier.NameAttributes.commonName)
                    try attribute.serialize(ASN1UTF8String(name))
                }
            }
        }
    }

    /// Times to 2049 are UTCTime, later ones GeneralizedTime (section 4.1.2.5).
    private func serialize(time: Date, into serializer: inout DER.Serializer) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: time)
        let (year, month, day) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
        let (hours, minutes, seconds) = (parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
        if year < 2050 {
            try serializer.serialize(
                UTCTime(year: year, month: month, day: day, hours: hours, minutes: minutes, seconds: seconds))
        } else {
            try serializer.serialize(
                GeneralizedTime(
                    year: year, month: month, day: day, hours: hours, minutes: minutes, seconds: seconds,
                    fractionalSeconds: 0))
        }
    }

    /// Basic constraints, key usage and alternative names (sections 4.2.1.9, 4.2.1.3 and 4.2.1.6).
    private func serializeExtensions(into extensions: inout DER.Serializer) throws {
        try serialize(extension: [2, 5, 29, 19], isCritical: true, into: &extensions) { value in
            try value.appendConstructedNode(identifier: .sequence) { constraints in
                if isAuthority { try constraints.serialize(true) }
            }
        }
        // Bit 0 is digitalSignature, bit 5 keyCertSign; what follows the last bit set is left out.
        let usage: (bits: UInt8, padding: Int) = isAuthority ? (0b1000_0100, 2) : (0b1000_0000, 7)
        try serialize(extension: [2, 5, 29, 15], isCritical: true, into: &extensions) { value in
            try value.serialize(ASN1BitString(bytes: [usage.bits], paddingBits: usage.padding))
        }
        guard !hosts.isEmpty else { return }
        try serialize(extension: [2, 5, 29, 17], isCritical: false, into: &extensions) { value in
            value.appendConstructedNode(identifier: .sequence) { names in
                for host in hosts {
                    let (tag, content): (UInt, [UInt8]) =
                        switch host {
                        case .name(let name): (2, Array(name.utf8))
                        case .address(let address): (7, address)
                        }
                    names.appendPrimitiveNode(
                        identifier: ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)
                    ) { $0.append(contentsOf: content) }
                }
            }
        }
    }

    private func serialize(
        extension identifier: ASN1ObjectIdentifier, isCritical: Bool, into extensions: inout DER.Serializer,
        value: (inout DER.Serializer) throws -> Void
    ) throws {
        var content = DER.Serializer()
        try value(&content)
        try extensions.appendConstructedNode(identifier: .sequence) { one in
            try one.serialize(identifier)
            if isCritical { try one.serialize(true) }
            try one.serialize(ASN1OctetString(contentBytes: content.serializedBytes[...]))
        }
    }
}

extension CertificateContents {
    /// Whether issuer and subject of a certificate in DER are one name; false for what is no certificate.
    static func namesOneParty(_ certificate: [UInt8]) -> Bool {
        // Certificate ::= SEQUENCE { TBSCertificate ::= SEQUENCE { [0] version, serial number, algorithm, issuer,
        // validity, subject, ... }, ... }; a certificate of version 1 has no version.
        guard let root = try? DER.parse(certificate), let body = children(of: root).first else {
            return false
        }
        let version = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        let fields = children(of: body).drop { $0.identifier == version }
        guard fields.count >= 5 else { return false }
        let first = fields.startIndex
        return fields[first + 2].encodedBytes == fields[first + 4].encodedBytes
    }

    private static func children(of node: ASN1Node) -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else { return [] }
        return Array(nodes)
    }
}
