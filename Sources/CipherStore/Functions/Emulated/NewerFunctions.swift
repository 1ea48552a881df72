/// Functions that newer versions of SQLite have, for engines that lack them.
///
/// They do what those of SQLite do. A view or trigger that calls them works on all engines then.
enum NewerFunctions {
    /// The functions that an engine of a version lacks.
    static func missing(in version: Int) -> [DatabaseFunction] {
        var functions: [DatabaseFunction] = []
        if version < 3_032_000 { functions.append(function("iif", 3, iif)) }
        if version < 3_035_000 { functions.append(function("sign", 1, sign)) }
        if version < 3_041_000 {
            functions.append(function("unhex", 1, unhex))
            functions.append(function("unhex", 2, unhex))
        }
        if version < 3_043_000 { functions.append(function("octet_length", 1, octetLength)) }
        return functions
    }

    private static func function(
        _ name: String, _ argumentCount: Int, _ body: @escaping FunctionRegistration.Function
    ) -> DatabaseFunction {
        DatabaseFunction(
            name, argumentCount: argumentCount, traits: [.deterministic, .innocuous], body: body)
    }

    /// One of two values. Both are computed, where SQLite's own computes the one that it gives.
    private static func iif(_ call: FunctionCall) {
        let isTrue =
            switch call[0].storageClass {
            case RawColumn.nullClass: false
            case RawColumn.integerClass: call[0].int64 != 0
            // The number that a text or a blob begins with, as SQLite takes them for truth values.
            default: call[0].double != 0
            }
        call.returnArgument(isTrue ? 1 : 2)
    }

    /// -1, 0 or 1; NULL of what is no number.
    private static func sign(_ call: FunctionCall) {
        switch call[0].storageClass {
        case RawColumn.integerClass: call.returnInt64(call[0].int64.signum())
        case RawColumn.realClass, RawColumn.textClass:
            if call[0].storageClass == RawColumn.textClass {
                let text = String(decoding: call[0].text, as: UTF8.self)
                guard text.trimmingBlanks.isDecimalNumber else { return call.returnNull() }
            }
            let number = call[0].double
            call.returnInt64(number > 0 ? 1 : number < 0 ? -1 : 0)
        default: call.returnNull()
        }
    }

    /// The number of bytes; of a number, those of its text.
    private static func octetLength(_ call: FunctionCall) {
        switch call[0].storageClass {
        case RawColumn.nullClass: call.returnNull()
        case RawColumn.blobClass: call.returnInt64(Int64(call[0].blob.count))
        default: call.returnInt64(Int64(call[0].text.count))
        }
    }

    /// The bytes of pairs of hexadecimal digits; the characters of a second text may stand between the pairs.
    private static func unhex(_ call: FunctionCall) {
        guard call[0].storageClass != RawColumn.nullClass else { return call.returnNull() }
        var ignored: Set<Unicode.Scalar> = []
        if call.argumentCount > 1 {
            guard call[1].storageClass != RawColumn.nullClass else { return call.returnNull() }
            // Digits mean what they are.
            ignored = Set(
                String(decoding: call[1].text, as: UTF8.self).unicodeScalars.filter { hexValue($0) == nil })
        }
        var bytes: [UInt8] = []
        var high: UInt8?
        for scalar in String(decoding: call[0].text, as: UTF8.self).unicodeScalars {
            if let digit = hexValue(scalar) {
                if let first = high {
                    bytes.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            } else if high != nil || !ignored.contains(scalar) {
                return call.returnNull()
            }
        }
        guard high == nil else { return call.returnNull() }
        bytes.withUnsafeBytes { call.returnBlob($0) }
    }

    private static func hexValue(_ scalar: Unicode.Scalar) -> UInt8? {
        guard scalar.isASCII else { return nil }
        return JSONString.hexValue(UInt8(truncatingIfNeeded: scalar.value))
    }
}

extension String {
    /// The text without the blanks that SQLite ignores around numbers.
    fileprivate var trimmingBlanks: String {
        let blanks: Set<Unicode.Scalar> = [" ", "\t", "\n", "\u{0B}", "\u{0C}", "\r"]
        let scalars = unicodeScalars.drop { blanks.contains($0) }
        let end = scalars.lastIndex { !blanks.contains($0) }
        return end.map { String(String.UnicodeScalarView(scalars[...$0])) } ?? ""
    }
}
