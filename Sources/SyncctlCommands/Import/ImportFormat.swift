import ArgumentParser
import Foundation

/// How a file of rows is written.
enum ImportFormat: Equatable, Sendable {
    case csv(delimiter: UInt8)
    case jsonLines

    /// The formats, as `--format` names them.
    enum Name: String, ExpressibleByArgument, CaseIterable {
        case csv, jsonl
    }

    /// The format of a file.
    ///
    /// - parameters:
    ///   - name: The format that the user named. Without one, the end of the file's name tells it.
    ///   - delimiter: The delimiter that the user named.
    /// - throws: ``CSVError`` for a file that looks like another format, as long as the user has named none.
    static func of(_ source: ImportSource, name: Name?, delimiter: UInt8?) throws(CSVError) -> ImportFormat {
        let comma = UInt8(ascii: ",")
        switch name {
        case .jsonl: return .jsonLines
        case .csv: return .csv(delimiter: delimiter ?? comma)
        case nil: break
        }
        if let delimiter { return .csv(delimiter: delimiter) }
        let ending = URL(fileURLWithPath: source.path).pathExtension.lowercased()
        if ["jsonl", "ndjson"].contains(ending) { return .jsonLines }
        if let (what, hint) = look(at: firstLine(of: source)) {
            throw CSVError(
                code: .wrongFormat, path: source.path, line: 1, message: "this looks like \(what)", hint: hint
            )
        }
        return .csv(delimiter: comma)
    }

    /// The bytes of the first line, or as many of them as tell enough.
    private static func firstLine(of source: ImportSource) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { source.read(into: $0, count: bytes.count, at: 0) } ?? 0
        }
        let text = buffer.prefix(max(count, 0))
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: mark) ? text.dropFirst(mark.count) : text
        return Array(start.prefix { $0 != CSVByte.lineFeed && $0 != CSVByte.carriageReturn })
    }

    /// What a line that is no header with commas looks like, and the option for it.
    private static func look(at line: [UInt8]) -> (what: String, hint: String)? {
        let text = line.filter { $0 > 0x20 }
        if text.starts(with: Array("{\"".utf8)) || text.elementsEqual("{}".utf8) {
            return ("JSON Lines", "add --format jsonl")
        }
        if text.starts(with: Array("[{".utf8)) || text.elementsEqual("[".utf8) {
            return ("a JSON array", "write an object on each line, for example with: jq -c '.[]'")
        }
        guard !line.contains(UInt8(ascii: ",")) else { return nil }
        if line.contains(UInt8(ascii: "\t")) { return ("fields separated by tabs", "add --delimiter tab") }
        if line.contains(UInt8(ascii: ";")) {
            return ("fields separated by semicolons", "add --delimiter ';'")
        }
        return nil
    }
}
