import Foundation
import TestSupport
import Testing

@testable import SyncctlCommands
@testable import syncctl

/// A field as the reader gives it.
private struct Field: Equatable {
    var text: String
    var isQuoted = false
}

/// Runs `body` with the path of a file in a folder of its own.
private func withFile<R>(_ bytes: some Sequence<UInt8>, _ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("csv-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("input.csv")
    try Data(bytes).write(to: file)
    return try body(file.path)
}

private typealias Contents = (header: [String], records: [[Field]], lines: [Int])

private func read(_ path: String, delimiter: Character, bufferSize: Int) throws -> Contents {
    let reader = try CSVReader(path: path, delimiter: delimiter.asciiValue ?? 0, bufferSize: bufferSize)
    var contents: Contents = (reader.header, [], [])
    try reader.forEachRecord { record in
        var fields: [Field] = []
        for index in 0..<record.count {
            record.withField(index) { bytes, isQuoted in
                fields.append(Field(text: String(decoding: bytes, as: UTF8.self), isQuoted: isQuoted))
            }
        }
        contents.records.append(fields)
        contents.lines.append(record.line)
        #expect(record.line == reader.line && record.endOffset == reader.bytesRead)
    }
    #expect(reader.bytesRead == reader.fileSize)
    return contents
}

private func contents(
    _ csv: String, delimiter: Character = ",", bufferSize: Int = 256 << 10
) throws -> Contents {
    try withFile(csv.utf8) { try read($0, delimiter: delimiter, bufferSize: bufferSize) }
}

private func texts(_ csv: String, delimiter: Character = ",", bufferSize: Int = 4096) throws -> [[String]] {
    try contents(csv, delimiter: delimiter, bufferSize: bufferSize).records.map { $0.map(\.text) }
}

/// The error that reading the file ends in, which must not depend on where the reads cut the file.
private func failure(_ bytes: some Sequence<UInt8>, delimiter: Character = ",") throws -> CSVError? {
    try withFile(bytes) { path in
        let errors = [1, 2, 3, 5, 8, 256 << 10].map { size in
            #expect(throws: CSVError.self) { _ = try read(path, delimiter: delimiter, bufferSize: size) }
        }
        #expect(errors.allSatisfy { $0 == errors[0] })
        return errors[0]
    }
}

@Suite(.anyEngine) struct CSVReaderTests {
    @Test(arguments: [
        "a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\r\n3,4", "\u{FEFF}a,b\n1,2\n3,4\n\n\r\n",
    ])
    func lineEndsByteOrderMarkAndBlankLastLinesDoNotMatter(csv: String) throws {
        for bufferSize in 1...12 {
            let (header, records, lines) = try contents(csv, bufferSize: bufferSize)
            #expect(header == ["a", "b"])
            #expect(records.map { $0.map(\.text) } == [["1", "2"], ["3", "4"]])
            #expect(lines == [2, 3])
        }
    }

    @Test func quotesProtectDelimitersLineEndsAndQuotes() throws {
        let csv = "a,b\n\"x,y\",\"1\r\n2\n3\"\n\"\"\"\",\"say \"\"hi\"\"\"\n,\"\"\n"
        for bufferSize in 1...40 {
            let (_, records, lines) = try contents(csv, bufferSize: bufferSize)
            #expect(
                records == [
                    [Field(text: "x,y", isQuoted: true), Field(text: "1\r\n2\n3", isQuoted: true)],
                    [Field(text: "\"", isQuoted: true), Field(text: "say \"hi\"", isQuoted: true)],
                    [Field(text: ""), Field(text: "", isQuoted: true)],
                ])
            #expect(lines == [2, 5, 6])
        }
    }

    @Test func otherCharactersAreKeptAsTheyAre() throws {
        let unusual = "\u{301}\ty\u{B}\u{2028}z\u{85}"
        #expect(try texts("a,b\n x ,\(unusual)\n") == [[" x ", unusual]])
        #expect(try contents("\u{E9},e\u{301},É\n").header.count == 3)
        #expect(try texts("a\tb\n1,5\t2\n", delimiter: "\t") == [["1,5", "2"]])
    }

    @Test func aZeroByteInQuotesIsPartOfAText() throws {
        for bufferSize in 1...12 {
            #expect(try texts("a,b\n\"\0\",\"x\0\"\"\n\"\n", bufferSize: bufferSize) == [["\0", "x\0\"\n"]])
        }
    }

    @Test func emptyFieldsAndOnlyAHeaderAreRead() throws {
        #expect(try texts("a\n1\n\n2\n\n") == [["1"], [""], ["2"], [""]])
        #expect(try texts("a,b\n1,") == [["1", ""]] && texts("a,b\n") == [] && texts("a,b") == [])
    }

    @Test(
        arguments: [
            ("", .empty, 1, "the file is empty"),
            ("\u{FEFF}", .empty, 1, "the file is empty"),
            ("a,b\n1,2\n3\n", .raggedRow, 3, "expected 2 fields, found 1"),
            ("a,b\n1,2\n\"x\ny\",4,5\n", .raggedRow, 3, "expected 2 fields, found 3"),
            ("a,b\n1,2\n\n\n3,4\n", .raggedRow, 3, "expected 2 fields, found 1"),
            ("a,b\n1,\"x\n\n2,y\n", .unterminatedQuote, 2, "unclosed quote in column 2 (\"b\")"),
            ("\"a", .unterminatedQuote, 1, "unclosed quote in column 1"),
            ("a,b\n1,5\" disk\n", .strayQuote, 2, "unexpected quote in column 2 (\"b\")"),
            ("a,b\n\"1\n2\"x,3\n", .strayQuote, 3, "unexpected quote in column 2 (\"b\")"),
            ("a,b\n1,2\r3,4\r", .strayCarriageReturn, 2, "carriage return without a line feed"),
            ("a,b\n\"1\"\r", .strayCarriageReturn, 2, "carriage return without a line feed"),
            ("a,b\n1,x\0y\n", .nulByte, 2, "NUL character at byte offset 7"),
            ("a,\"\n\0\"\n1,2\n", .nulByte, 2, "NUL character at byte offset 4"),
            ("a,,c\n", .emptyColumnName, 1, "column 2 has no name"),
            ("a,\"  \",c\n", .emptyColumnName, 1, "column 2 has no name"),
            ("id,b,ID\n", .duplicateColumn, 1, "columns 1 and 3 have the same name"),
        ] as [(String, CSVError.Code, Int, String)])
    func faultNamesItsLine(csv: String, code: CSVError.Code, line: Int, message: String) throws {
        let error = try #require(try failure(csv.utf8))
        #expect((error.code, error.line, error.message) == (code, line, message))
    }

    @Test func raggedRowNamesItsLine() throws {
        try withFile("a,b\n1,2\n3\n".utf8) { path in
            var count = 0
            let error = #expect(throws: CSVError.self) {
                try CSVReader(path: path).forEachRecord { _ in count += 1 }
            }
            #expect(error?.description == "\(path):3: expected 2 fields, found 1" && count == 1)
        }
    }

    @Test(
        arguments: [
            [0xFF], [0x80], [0xC0, 0xAF], [0xC1, 0x81], [0xC3], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
            [0xF5],
        ] as [[UInt8]])
    func invalidUTF8NamesLineAndOffset(bytes: [UInt8]) throws {
        for rest in ["", "x", ",4\n5,6\n"] {
            let error = try #require(try failure(Array("a,b\n1,2\n3é".utf8) + bytes + Array(rest.utf8)))
            #expect((error.code, error.line) == (.invalidUTF8, 3) && error.message.hasSuffix(" offset 11"))
        }
    }

    @Test func everyLengthOfCharacterIsRead() throws {
        let text = "\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}"
        for bufferSize in 1...30 { #expect(try texts("a\n\(text)\n", bufferSize: bufferSize) == [[text]]) }
    }

    @Test func fieldsRecordsAndColumnsAreBounded() throws {
        let longest = String(repeating: "x", count: CSVReader.maximumFieldBytes)
        let found = try texts("a\n\(longest)\n\"\(longest.dropLast())\"\"\"\n")
        #expect(found.map { $0[0].utf8.count } == [longest.utf8.count, longest.utf8.count])
        for (csv, code) in [
            ("a\n\(longest)x\n", .fieldTooLong), ("a\n\"\(longest)x", .fieldTooLong),
            ("a,b,c\n\(longest),\(longest),\n", .recordTooLong),
        ] as [(String, CSVError.Code)] {
            let error = #expect(throws: CSVError.self) { _ = try texts(csv) }
            #expect((error?.code, error?.line) == (code, 2))
        }
        let names = (1...CSVReader.maximumColumns).map { "c\($0)" }.joined(separator: ",")
        #expect(try contents(names).header.count == CSVReader.maximumColumns)
        #expect(try failure("\(names),x".utf8)?.code == .tooManyColumns)
    }

    @Test func onlyARegularFileIsOpened() throws {
        let folder = FileManager.default.temporaryDirectory.path
        for (path, message) in [
            ("\(folder)/none-\(UUID())", "cannot open: no such file or directory"),
            (folder, "cannot open: not a regular file"), ("/dev/null", "cannot open: not a regular file"),
        ] {
            let error = #expect(throws: CSVError.self) { _ = try CSVReader(path: path) }
            #expect((error?.code, error?.line, error?.message) == (.cannotOpen, nil, message))
        }
        for delimiter in ["\"", "\n", "\r", "\0", "é"] as [Character] {
            #expect(try failure("a".utf8, delimiter: delimiter)?.code == .invalidDelimiter)
        }
    }

    @Test func errorOfTheCallerIsPassedOn() throws {
        _ = try withFile("a\n1\n2\n".utf8) { path in
            let reader = try CSVReader(path: path)
            #expect(throws: POSIXError.self) { try reader.forEachRecord { _ in throw POSIXError(.EIO) } }
        }
    }

    @Test func randomRecordsReadBackEqual() throws {
        var generator = SplitMix64(state: 4180)
        for _ in 0..<400 {
            let (header, expected, csv) = randomFile(using: &generator)
            let bufferSize = Int.random(in: 1...60, using: &generator)
            let (names, found, _) = try contents(csv, bufferSize: bufferSize)
            #expect(names == header && found == expected, "buffer of \(bufferSize): \(csv.debugDescription)")
        }
    }
}

/// A generator with a fixed sequence, so that a failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Random records together with their CSV text, written with mixed line ends and with needless quotes.
private func randomFile(using generator: inout SplitMix64) -> ([String], [[Field]], csv: String) {
    let header = (1...Int.random(in: 1...5, using: &generator)).map { "column \($0)" }
    let alphabet: [Character] = ["a", "7", ",", "\"", "\n", "\r", "\r\n", " ", "é", "漢", "😀"]
    var records: [[Field]] = []
    var csv = header.joined(separator: ",") + "\n"
    for _ in 0..<Int.random(in: 0...20, using: &generator) {
        let record = header.map { _ in
            let length = Int.random(in: 0...9, using: &generator)
            let text = String((0..<length).compactMap { _ in alphabet.randomElement(using: &generator) })
            let needsQuotes = text.utf8.contains { ",\"\r\n".utf8.contains($0) }
            return Field(text: text, isQuoted: needsQuotes || Bool.random(using: &generator))
        }
        records.append(record)
        csv += record.map { field in
            let doubled = field.text.replacingOccurrences(of: "\"", with: "\"\"")
            return field.isQuoted ? "\"\(doubled)\"" : field.text
        }.joined(separator: ",")
        csv += Bool.random(using: &generator) ? "\r\n" : "\n"
    }
    // The last line end may be missing, but without it an empty last line would not be a record.
    if records.last != [Field(text: "")], Bool.random(using: &generator) { csv.removeLast() }
    return (header, records, csv)
}
