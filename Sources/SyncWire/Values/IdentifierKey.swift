extension String {
    /// A text that two names share exactly when they are one name to SQLite, which folds ASCII letters and nothing
    /// else; see the property of this name in CipherStore, which knows nothing of this module. Tests compare the two.
    var nameKey: String {
        var key: [UInt8] = []
        key.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): key.append(byte | 0x20)
            case 0x80..., 0x01:
                key.append(0x01)
                key.append(contentsOf: (byte < 16 ? "0" : "").utf8)
                key.append(contentsOf: String(byte, radix: 16).utf8)
            default: key.append(byte)
            }
        }
        return String(decoding: key, as: UTF8.self)
    }
}
