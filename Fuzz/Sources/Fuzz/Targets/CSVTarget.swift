import Foundation

extension FuzzTarget {
    /// A CSV file. The first byte is the size of the reader's first buffer.
    static let csv = FuzzTarget(
        name: "csv", run: CSVFuzzing.run, seeds: { _ in CSVFuzzing.seeds },
        words: ["\"\"", "\r\n", "\",\"", "1e308", "-0.0", "9223372036854775808", "NA", "\u{FEFF}"].map {
            Array($0.utf8)
        })
}

private enum CSVFuzzing {
    nonisolated(unsafe) private static let file = MemoryFile("csv")

    private enum Outcome: Equatable {
        case table([[Field]])
        case refused(CSVError.Code, line: Int?)
    }

    private struct Field: Equatable {
        let text: [UInt8]
        let isQuoted: Bool
    }

    static func run(_ input: [UInt8]) throws {
        guard let first = input.first else { return }
        let bytes = Array(input.dropFirst())
        let delimiter = first & 0x80 == 0 ? UInt8(ascii: ",") : UInt8(ascii: ";")
        let outcome = try read(bytes, delimiter, bufferSize: Int(first & 0x7F) + 1)
        // Where the file is cut into buffers changes nothing.
        try require(
            try read(bytes, delimiter, bufferSize: 256 << 10) == outcome, "buffers make no difference")
        guard case .table(let rows) = outcome else { return }
        let again = written(rows, delimiter)
        try require(
            try read(again, delimiter, bufferSize: 256 << 10) == outcome, "a file is written and read again")
    }

    private static func read(_ bytes: [UInt8], _ delimiter: UInt8, bufferSize: Int) throws -> Outcome {
        file.replace(with: bytes)
        do {
            let reader = try CSVReader(path: file.path, delimiter: delimiter, bufferSize: bufferSize)
            var rows = [reader.header.map { Field(text: Array($0.utf8), isQuoted: true) }]
            var inference = ColumnTypeInference(columnCount: reader.header.count)
            try reader.forEachRecord { record in
                inference.observe(record)
                rows.append(
                    (0..<record.count).map { index in
                        record.withField(index) { Field(text: Array($0), isQuoted: $1) }
                    })
            }
            checkTypes(inference, rows.dropFirst())
            return .table(rows)
        } catch let error as CSVError {
            return .refused(error.code, line: error.line)
        }
    }

    /// A column is numeric only when each of its values is a number.
    private static func checkTypes(_ inference: ColumnTypeInference, _ rows: ArraySlice<[Field]>) {
        for (column, type) in inference.types.enumerated() {
            _ = inference.isUUIDKey(column)
            for row in rows {
                row[column].text.withUnsafeBytes { bytes in
                    let value = FieldValue.parse(field: bytes, isQuoted: row[column].isQuoted, as: type)
                    switch value {
                    case .text: require(type == .text, "a column of numbers has numbers")
                    case .integer(let number):
                        require(type == .integer || type == .numeric, "an integer is in a column of numbers")
                        require("\(number)".utf8.elementsEqual(bytes), "an integer comes back as it was")
                    case .real(let number):
                        require(type == .real || type == .numeric, "a real is in a column of numbers")
                        require("\(number)".utf8.elementsEqual(bytes), "a real comes back as it was")
                    case .blob: require(false, "nothing is a blob unless the user says so")
                    case .null: break
                    }
                }
            }
        }
    }

    private static func written(_ rows: [[Field]], _ delimiter: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows {
            for (index, field) in row.enumerated() {
                if index > 0 { bytes.append(delimiter) }
                if field.isQuoted { bytes.append(UInt8(ascii: "\"")) }
                for byte in field.text {
                    bytes.append(byte)
                    if byte == UInt8(ascii: "\"") { bytes.append(byte) }
                }
                if field.isQuoted { bytes.append(UInt8(ascii: "\"")) }
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    static let seeds: [[UInt8]] =
        [
            "a,b\n1,2\n", "a,b\r\n\"x \"\"y\"\"\",\r\n",
            "\u{FEFF}id,f\n6f1e1b9a-3c1d-4a5e-8f00-0123456789ab,1.5\n",
            "a\n\n\"\"\nNA\n", "a,b\n-0.0,1e308\n9223372036854775807,-1\n", "a,b\n\"line\nend\",ü\n\n\n",
            "a\n\"\0\"\n",
        ].flatMap { text in [0, 3, 127].map { [$0] + Array(text.utf8) } }
        + [[0x80] + Array("a;b\n1;2,5\n".utf8)]
}
