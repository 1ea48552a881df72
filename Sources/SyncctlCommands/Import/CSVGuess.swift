import Foundation

/// What a file looks like that does not look like CSV with the delimiter that was named.
enum CSVGuess {
    /// So much of the file is looked at.
    private static let byteCountMax = 4096

    /// A hint for who imports the file; nil when its first line holds the delimiter, or nothing else is likely.
    static func hint(_ path: String, delimiter: UInt8) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        guard let start = try? handle.read(upToCount: byteCountMax),
            let line = start.split(separator: CSVByte.lineFeed, omittingEmptySubsequences: true).first
        else { return nil }
        if line.first == UInt8(ascii: "{") || line.first == UInt8(ascii: "[") {
            return "the file looks like JSON, and CSV is read: a header, then a line for each row"
        }
        guard !line.contains(delimiter) else { return nil }
        for (byte, name, option) in [
            (UInt8(ascii: "\t"), "tabs", "tab"), (UInt8(ascii: ";"), "semicolons", "';'"),
            (UInt8(ascii: "|"), "bars", "'|'"), (UInt8(ascii: ","), "commas", "','"),
        ] where line.contains(byte) {
            return "the fields look separated by \(name): --delimiter \(option)"
        }
        return nil
    }
}
