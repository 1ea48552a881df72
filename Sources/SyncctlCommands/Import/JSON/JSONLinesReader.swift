import CipherStore
import Foundation

/// Streams a file of JSON Lines: an object on each line, as `export --format jsonl` writes it. Memory is bounded
/// whatever the file holds.
final class JSONLinesReader {
    /// The names of the members of all lines, in the order in which they came up.
    private(set) var columns: [String] = []
    private(set) var bytesRead: Int64 = 0
    let fileSize: Int64

    private let path: String
    private let source: ImportSource
    private let bufferSize: Int
    /// The columns by the keys of their names, which are one to the database.
    private var indices: [String: Int] = [:]

    /// Prepares to read a file. Tests pass a small `bufferSize` to cut the file anywhere.
    ///
    /// - parameter columns: The columns that are known, when the file was read before.
    init(source: ImportSource, columns: [String] = [], bufferSize: Int = 256 << 10) {
        self.source = source
        self.bufferSize = max(bufferSize, 1)
        (path, fileSize) = (source.path, source.size)
        for name in columns { addColumn(name) }
    }

    /// Calls `body` for each object: its line, and the value of each column, nil for those that it has not.
    /// Blank lines are skipped.
    func forEachLine(_ body: (_ line: Int, _ values: [JSONField?]) throws -> Void) throws {
        var window = ByteWindow(source: source, capacity: bufferSize)
        var (line, start, position, isAtEnd) = (1, 0, 0, false)
        if case .more = try refill(&window, from: 0, line), window.startsWithByteOrderMark {
            (start, position) = (3, 3)
        }
        while !isAtEnd {
            while position < window.limit, window.base[position] != CSVByte.lineFeed { position += 1 }
            if position == window.limit {
                let result = try refill(&window, from: start, line)
                (position, start) = (position - start, 0)
                if case .more = result { continue }
                isAtEnd = true
            }
            let text = UnsafeRawBufferPointer(start: window.base + start, count: position - start)
            bytesRead = window.offset + Int64(position)
            if text.contains(where: { $0 > 0x20 }) { try body(line, values(of: text, line)) }
            (line, position) = (line + 1, position + 1)
            start = position
        }
    }

    private func values(of text: UnsafeRawBufferPointer, _ line: Int) throws(CSVError) -> [JSONField?] {
        var values = [JSONField?](repeating: nil, count: columns.count)
        var parser = JSONLineParser(text)
        do {
            try parser.forEachMember { name, value throws(JSONLineParser.Problem) in
                let index = try self.index(of: name)
                while values.count < self.columns.count { values.append(nil) }
                guard values[index] == nil else {
                    throw JSONLineParser.Problem(
                        message: "the member \(PrintableText.quoted(name)) comes twice", position: 0)
                }
                values[index] = value
            }
        } catch {
            throw failure(.invalidJSON, line, "byte \(error.position + 1): \(error.message)")
        }
        return values
    }

    private func index(of name: String) throws(JSONLineParser.Problem) -> Int {
        func problem(_ message: String) -> JSONLineParser.Problem { .init(message: message, position: 0) }
        if let index = indices[name.identifierKey] {
            guard columns[index].hasSameBytes(as: name) else {
                throw problem(
                    "\(PrintableText.quoted(columns[index])) and \(PrintableText.quoted(name)) are one name to the database"
                )
            }
            return index
        }
        guard name.contains(where: { $0 != " " }) else { throw problem("a member has no name") }
        guard !name.unicodeScalars.contains("\0") else { throw problem("a NUL character in a name") }
        guard columns.count < CSVReader.maximumColumns else {
            throw problem("more than \(CSVReader.maximumColumns) different members")
        }
        return addColumn(name)
    }

    @discardableResult
    private func addColumn(_ name: String) -> Int {
        indices[name.identifierKey] = columns.count
        columns.append(name)
        return columns.count - 1
    }

    private func refill(
        _ window: inout ByteWindow, from start: Int, _ line: Int
    ) throws(CSVError) -> ByteWindow.Refill {
        let result = window.refill(keepingFrom: start)
        switch result {
        case .more, .endOfFile: return result
        case .failed(let reason): throw failure(.cannotRead, nil, "cannot read: \(reason)")
        case .full: throw failure(.recordTooLong, line, "the line is longer than 32 MiB")
        case .invalidUTF8(let offset):
            throw failure(
                .invalidUTF8, line, "not valid UTF-8 at byte offset \(offset)",
                hint: "convert the file first, for example with iconv -f UTF-16 -t UTF-8")
        }
    }

    private func failure(
        _ code: CSVError.Code, _ line: Int?, _ message: String, hint: String? = nil
    ) -> CSVError {
        CSVError(code: code, path: path, line: line, message: message, hint: hint)
    }
}
