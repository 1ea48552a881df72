/// Hexadecimal digits as bytes, and back.
enum Hexadecimal {
    static func bytes(_ text: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var high: Int?
        for character in text where !character.isWhitespace {
            guard let digit = character.hexDigitValue else { throw Failure(text: text) }
            if let first = high {
                bytes.append(UInt8(first << 4 | digit))
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { throw Failure(text: text) }
        return bytes
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    struct Failure: Error {
        let text: String
    }
}
