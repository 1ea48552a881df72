import Foundation

@testable import CipherStore
@testable import SyncWire

extension FuzzTarget {
    /// Short texts: dates, UUIDs, JSON with a path, recovery keys, recipients and slot names. The
    /// first byte says which.
    static let text = FuzzTarget(
        name: "text", run: TextFuzzing.run, seeds: { _ in TextFuzzing.seeds },
        words: ["T", "Z", "+14:00", "24:00", "\\u", "\\ud83d", "$[#-1]", "$.\"", "1e999", "csr1-"].map {
            Array($0.utf8)
        })
}

private enum TextFuzzing {
    static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        switch kind % 5 {
        case 0: bytes.withUnsafeBytes { date($0) }
        case 1: bytes.withUnsafeBytes { uuid($0) }
        case 2: try json(bytes)
        case 3: try recoveryKey(bytes)
        default: names(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The instant of a text is that of the text that is written of it.
    private static func date(_ bytes: UnsafeRawBufferPointer) {
        guard let parts = DateText.parse(bytes) else { return }
        require(
            (1...12).contains(parts.month) && (1...31).contains(parts.day) && (0...24).contains(parts.hour)
                && (0...59).contains(parts.minute) && (0...59).contains(parts.second)
                && (0...999).contains(parts.millisecond), "the parts are in their ranges: \(parts)")
        guard let date = parts.date, let text = DateText.string(date) else { return }
        require(text.utf8.count <= DateText.capacity, "a text has its longest length")
        require(DateText.parse(text)?.date == date, "a date is written and read again: \(text)")
    }

    /// What is packed unpacks to the same characters.
    private static func uuid(_ bytes: UnsafeRawBufferPointer) {
        var packed = [UInt8](repeating: 0, count: 16)
        guard let kind = packed.withUnsafeMutableBytes({ RowKeyCoding.pack(bytes, into: $0) }) else {
            return
        }
        require(RowKeyCoding.isText(bytes), "what can be packed is a UUID")
        var text = [UInt8](repeating: 0, count: 36)
        text.withUnsafeMutableBytes { text in
            packed.withUnsafeBytes {
                RowKeyCoding.unpack($0, isUppercase: kind == RowKeyCoding.uppercaseText, into: text)
            }
        }
        require(text.elementsEqual(bytes), "a UUID is packed and unpacked")
        require(UUID(uuidString: String(decoding: text, as: UTF8.self)) != nil, "Foundation reads it")
    }

    /// The path is the first line.
    private static func json(_ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, let json = try? JSONText(parsing: Array(lines[1])) else { return }
        try require(try JSONText(parsing: json.bytes).bytes == json.bytes, "what is parsed is minified")
        let path = lines[0].withUnsafeBytes { JSONPath($0) }
        do {
            if let node = try path.find(in: json) { _ = json.text(of: node) }
            for edit in [JSONPath.Edit.insert, .replace, .set, .remove] {
                guard let edited = try path.apply(edit, value: Array("[1]".utf8), to: json) else { continue }
                require(
                    (try? JSONText(parsing: edited)) != nil || json.nodes.count > 900, "edited JSON is JSON")
            }
        } catch is DatabaseError {
            // The path is malformed.
        }
        let patched = JSONMergePatch.apply(json, to: json)
        require((try? JSONText(parsing: patched)) != nil, "patched JSON is JSON")
    }

    private static func recoveryKey(_ bytes: [UInt8]) throws {
        guard let secret = try? bytes.withUnsafeBytes({ try SecretBytes($0) }),
            let key = try? RecoveryKey(utf8: secret)
        else { return }
        let text = try key.withText { try SecretBytes($0) }
        let again = try RecoveryKey(utf8: text)
        try require(
            try again.withText { try SecretBytes($0) }.matches(text),
            "a recovery key is written and read again")
    }

    private static func names(_ text: String) {
        if let recipient = ArchiveRecipient(text) {
            require(ArchiveRecipient(recipient.description) == recipient, "a recipient is read again")
        }
        if let id = KeySlot.ID(text) {
            require(id.description == text.lowercased(), "a slot has one name")
        }
    }

    static let seeds: [[UInt8]] =
        ([
            (0, "2024-02-29 23:59:59.999"), (0, "2024-02-29T23:59:59Z"), (0, "+012345-01-01 00:00:00.000"),
            (0, "12:30"), (0, "2024-01-01 10:00:00.5+14:00"), (0, "-000001-12-31"),
            (1, "6f1e1b9a-3c1d-4a5e-8f00-0123456789ab"), (1, "6F1E1B9A-3C1D-4A5E-8F00-0123456789AB"),
            (2, "$.a[0]\n{\"a\": [1, -2.5e3, \"\\u00e9\"], \"b\": null}"), (2, "$[#-1]\n[true, false, [[]]]"),
            (2, "$.\"a b\"\n{\"a b\": \"\\ud83d\\udc1f\"}"),
            (3, "89XG-0S1Q-SDJD-ZWTN-1EB5-9M0K-3Z17-SRHT-AWAQ"), (4, "ce77ff453c581962"),
            (4, "csr1-00"),
        ] as [(UInt8, String)]).map { [$0.0] + Array($0.1.utf8) }
}
