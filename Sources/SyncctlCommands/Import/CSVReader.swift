import Foundation

/// Where a field lies, in bytes counted from the start of its record.
private struct FieldRange {
    var start = 0, length = 0
    var isQuoted = false
}

/// One record of a CSV file. Its bytes belong to the reader and are valid only while the callback runs,
/// which is why a record cannot be copied.
struct CSVRecord: ~Copyable {
    /// The number of fields, always that of the header.
    let count: Int
    /// The 1-based line on which the record began.
    let line: Int
    /// The number of bytes of the file up to the end of this record, for progress reports.
    let endOffset: Int64
    fileprivate let bytes: UnsafePointer<UInt8>
    fileprivate let ranges: UnsafeBufferPointer<FieldRange>

    /// Gives `body` the text of a field without its quotes. Whether it had quotes is passed on because they
    /// carry meaning: `""` is an empty text, where an empty field without quotes is a missing value.
    @inline(__always)
    func withField<R>(
        _ index: Int, _ body: (UnsafeRawBufferPointer, _ isQuoted: Bool) throws -> R
    ) rethrows -> R {
        precondition(index >= 0 && index < count, "field index out of range")
        let range = ranges[index]
        let text = UnsafeRawBufferPointer(start: bytes + range.start, count: range.length)
        return try body(text, range.isQuoted)
    }
}

/// Streams the RFC 4180 records of a UTF-8 file with LF or CRLF line ends. Memory is bounded whatever the
/// file holds, and input that could be read in two ways is refused rather than repaired.
final class CSVReader {
    static let maximumFieldBytes = 16 << 20
    static let maximumRecordBytes = 32 << 20
    static let maximumColumns = 2_000

    /// Whether a byte can separate fields: any of ASCII that does not mean something else.
    static func canSeparateFields(_ byte: UInt8) -> Bool {
        byte < 0x80 && ![0, CSVByte.quote, CSVByte.lineFeed, CSVByte.carriageReturn].contains(byte)
    }

    var header: [String] { scanner.header }
    /// The 1-based line on which the last record began.
    var line: Int { scanner.line }
    /// The number of bytes of the file that have been scanned.
    var bytesRead: Int64 { scanner.bytesRead }
    var fileSize: Int64 { scanner.window.source.size }
    private var scanner: CSVScanner

    /// Opens a file and reads its header.
    convenience init(
        path: String, delimiter: UInt8 = UInt8(ascii: ","), bufferSize: Int = 256 << 10
    ) throws(CSVError) {
        try self.init(source: ImportSource(path: path), delimiter: delimiter, bufferSize: bufferSize)
    }

    /// Reads the header of a file that is open. Tests pass a small `bufferSize` to cut the file anywhere.
    init(
        source: ImportSource, delimiter: UInt8 = UInt8(ascii: ","), bufferSize: Int = 256 << 10
    ) throws(CSVError) {
        let path = source.path
        guard Self.canSeparateFields(delimiter) else {
            let message = "the delimiter must be an ASCII character other than a quote or a line end"
            throw CSVError(code: .invalidDelimiter, path: path, line: nil, message: message, hint: nil)
        }
        let window = ByteWindow(source: source, capacity: max(bufferSize, 1))
        var scanner = CSVScanner(path: path, delimiter: delimiter, window: window)
        try scanner.readHeader()
        self.scanner = scanner
    }

    /// Calls `body` for each record after the header. Blank lines at the end of the file are skipped, except
    /// in a file of one column, where a blank line is a record whose only value is missing.
    func forEachRecord(_ body: (borrowing CSVRecord) throws -> Void) throws {
        while try scanner.nextRecord() { try scanner.withRecord(body) }
    }
}

/// The state of a reader. It is a structure because checks on the access to properties of a class, several
/// for each field, would halve the speed of the scan.
private struct CSVScanner: ~Copyable {
    let path: String
    let delimiter: UInt8
    var window: ByteWindow
    var header: [String] = []
    /// The line on which the current record began, and the one that `position` is on.
    var line = 1
    var currentLine = 1
    /// The first byte of the current record and the next byte to scan, as indices into the window.
    var recordStart = 0
    var position = 0
    var bytesRead: Int64 { window.offset + Int64(position) }
    /// The fields of the current record. Fields beyond the limit are counted, not kept.
    var fieldCount = 0
    var ranges = [FieldRange](repeating: FieldRange(), count: CSVReader.maximumColumns)

    /// Scans one record and checks its number of fields; false at the end of the file.
    mutating func nextRecord() throws(CSVError) -> Bool {
        var blankLine: Int?
        while try scanRecord() {
            let isBlank = fieldCount == 1 && ranges[0].length == 0 && !ranges[0].isQuoted
            if isBlank, header.count > 1 {
                blankLine = blankLine ?? line
                continue
            }
            if blankLine == nil, fieldCount == header.count { return true }
            let found = blankLine == nil ? fieldCount : 1
            let hint = found > header.count ? "a field that contains the delimiter must be in quotes" : nil
            throw failure(
                .raggedRow, line: blankLine, "expected \(header.count) fields, found \(found)",
                hint: blankLine == nil ? hint : "the line is blank")
        }
        return false
    }

    func withRecord(_ body: (borrowing CSVRecord) throws -> Void) rethrows {
        try ranges.withUnsafeBufferPointer { ranges in
            let bytes = window.base + recordStart
            try body(
                CSVRecord(
                    count: fieldCount, line: line, endOffset: bytesRead, bytes: bytes, ranges: ranges))
        }
    }

    /// Skips a byte order mark and reads the names of the columns. The database compares names without
    /// regard to the case of ASCII letters, and so does the check for duplicates.
    mutating func readHeader() throws(CSVError) {
        if try hasByte(), window.startsWithByteOrderMark { position = 3 }
        guard try scanRecord() else {
            throw failure(.empty, "the file is empty", hint: "the first line must name the columns")
        }
        guard fieldCount <= CSVReader.maximumColumns else {
            throw failure(.tooManyColumns, "\(fieldCount) columns, more than \(CSVReader.maximumColumns)")
        }
        var columnOfName: [[UInt8]: Int] = [:]
        for (column, range) in ranges.prefix(fieldCount).enumerated() {
            let start = window.base + recordStart + range.start
            let bytes = UnsafeBufferPointer(start: start, count: range.length)
            guard bytes.contains(where: { $0 != UInt8(ascii: " ") }) else {
                throw failure(.emptyColumnName, "column \(column + 1) has no name")
            }
            let key = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
            if let first = columnOfName.updateValue(column, forKey: key) {
                throw failure(
                    .duplicateColumn, "columns \(first + 1) and \(column + 1) have the same name",
                    hint: "names that differ only in upper and lower case are the same to the database")
            }
            header.append(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Scans one record; false at the end of the file.
    private mutating func scanRecord() throws(CSVError) -> Bool {
        recordStart = position
        fieldCount = 0
        guard try hasByte() else { return false }
        line = currentLine
        while try scanField() {}
        return true
    }

    /// Scans one field and keeps its range; true when another field follows in the record. The state lives
    /// in indices relative to the record, so that more of the file can be read in the middle of a field.
    private mutating func scanField() throws(CSVError) -> Bool {
        let isQuoted = try hasByte() && window.base[position] == CSVByte.quote
        if isQuoted { position += 1 }
        let openingLine = currentLine
        let start = position - recordStart
        var doubledQuotes = 0
        scan: while true {
            position = window.indexOfSpecialByte(from: position, delimiter: delimiter)
            if position - recordStart - start - doubledQuotes > CSVReader.maximumFieldBytes {
                let hint = isQuoted ? "perhaps the quote opened on line \(openingLine) is never closed" : nil
                throw failure(.fieldTooLong, "\(columnName) is longer than 16 MiB", hint: hint)
            }
            if position == window.limit {
                if try more() { continue }
                guard isQuoted else { break }
                throw failure(.unterminatedQuote, line: openingLine, "unclosed quote in \(columnName)")
            }
            switch window.base[position] {
            // In quotes it is what a text holds; names hold none.
            case 0 where !isQuoted || header.isEmpty:
                throw failure(
                    .nulByte, line: currentLine, "NUL character at byte offset \(bytesRead)",
                    hint: "a file in UTF-16 must be converted to UTF-8 first")
            case CSVByte.quote:
                guard isQuoted else { throw strayQuote() }
                guard try isNext(CSVByte.quote) else { break scan }
                doubledQuotes += 1
                position += 2
            case let byte:
                let isEnd = byte == delimiter || byte == CSVByte.lineFeed || byte == CSVByte.carriageReturn
                if isEnd && !isQuoted { break scan }
                if byte == CSVByte.lineFeed { currentLine += 1 }
                position += 1
            }
        }
        let length = undouble(doubledQuotes, from: start, to: position - recordStart)
        if fieldCount < ranges.count {
            ranges[fieldCount] = FieldRange(start: start, length: length, isQuoted: isQuoted)
        }
        fieldCount += 1
        if isQuoted { position += 1 }
        return try scanFieldEnd()
    }

    /// Steps over what ends a field: true for a delimiter, false for the end of the line or the file.
    private mutating func scanFieldEnd() throws(CSVError) -> Bool {
        guard try hasByte() else { return false }
        if window.base[position] == delimiter {
            position += 1
            return true
        }
        if window.base[position] == CSVByte.carriageReturn {
            guard try isNext(CSVByte.lineFeed) else {
                throw failure(
                    .strayCarriageReturn, line: currentLine, "carriage return without a line feed",
                    hint: "a line must end in LF or CRLF, and a field that contains a line end be in quotes")
            }
            position += 1
        }
        guard window.base[position] == CSVByte.lineFeed else { throw strayQuote() }
        position += 1
        currentLine += 1
        return false
    }

    /// Turns each doubled quote of a finished field into one, in place; the new length of the field.
    private func undouble(_ count: Int, from start: Int, to end: Int) -> Int {
        guard count > 0 else { return end - start }
        let bytes = window.base + recordStart
        var (source, target) = (start, start)
        while source < end {
            bytes[target] = bytes[source]
            source += bytes[source] == CSVByte.quote ? 2 : 1
            target += 1
        }
        return target - start
    }

    private mutating func hasByte() throws(CSVError) -> Bool {
        if position < window.limit { true } else { try more() }
    }

    /// Whether `byte` follows the one at `position`.
    private mutating func isNext(_ byte: UInt8) throws(CSVError) -> Bool {
        if position + 1 == window.limit, try !more() { return false }
        return window.base[position + 1] == byte
    }

    /// Reads more of the file behind the current record; false at the end of the file.
    private mutating func more() throws(CSVError) -> Bool {
        let refill = window.refill(keepingFrom: recordStart)
        position -= recordStart
        recordStart = 0
        switch refill {
        case .more: return true
        case .endOfFile: return false
        case .failed(let reason): throw failure(.cannotRead, "cannot read: \(reason)")
        case .full: throw failure(.recordTooLong, "the record is longer than 32 MiB")
        case .invalidUTF8(let offset):
            let encoding = offset == 0 ? "UTF-16" : "WINDOWS-1252"
            throw failure(
                .invalidUTF8, line: currentLine, "not valid UTF-8 at byte offset \(offset)",
                hint: "convert the file first, for example with iconv -f \(encoding) -t UTF-8")
        }
    }

    /// The column of the field being scanned, as it is named in messages.
    private var columnName: String {
        guard fieldCount < header.count else { return "column \(fieldCount + 1)" }
        return "column \(fieldCount + 1) (\(PrintableText.quoted(String(header[fieldCount].prefix(40)))))"
    }

    /// An error in the current record or, if given, on another line.
    private func failure(
        _ code: CSVError.Code, line: Int? = nil, _ message: String, hint: String? = nil
    ) -> CSVError {
        CSVError(code: code, path: path, line: line ?? self.line, message: message, hint: hint)
    }

    private func strayQuote() -> CSVError {
        let hint = #"a field that contains a quote must be in quotes, and the quote doubled: "5"" disk""#
        return failure(.strayQuote, line: currentLine, "unexpected quote in \(columnName)", hint: hint)
    }
}
