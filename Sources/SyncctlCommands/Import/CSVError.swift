/// Why a file of rows was refused, and where. Message and hint are in the style of the command line.
struct CSVError: Error, Equatable, CustomStringConvertible {
    enum Code: String {
        case cannotOpen, cannotRead, invalidDelimiter, wrongFormat, empty, invalidUTF8, nulByte,
            strayCarriageReturn
        case raggedRow, unterminatedQuote, strayQuote, fieldTooLong, recordTooLong
        case tooManyColumns, duplicateColumn, emptyColumnName, invalidJSON
    }

    let code: Code
    let path: String
    /// The 1-based line to look at, or nil when no line is at fault.
    let line: Int?
    let message: String
    let hint: String?

    var description: String { line.map { "\(path):\($0): \(message)" } ?? "\(path): \(message)" }
}

/// The bytes with a meaning in every CSV file.
enum CSVByte {
    static let quote = UInt8(ascii: "\"")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
}
