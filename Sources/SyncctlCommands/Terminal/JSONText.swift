/// JSON that is written by hand, where the order of fields or the speed matters.
enum JSONText {
    /// Quotes a text as JSON. Written out here because `JSONEncoder` keeps no order of fields.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if PrintableText.isUnsafe(scalar) {
                    result += code(of: scalar)
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    /// A document on one line, with codes in the place of what a terminal obeys. Programs read the same texts.
    ///
    /// `JSONEncoder` writes codes for the first 32 characters only, and outside of texts JSON has none of the others.
    static func printable(_ document: String) -> String {
        guard document.unicodeScalars.contains(where: PrintableText.isUnsafe) else { return document }
        var result = ""
        for scalar in document.unicodeScalars {
            if PrintableText.isUnsafe(scalar) {
                result += code(of: scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// What stands in a text of JSON for a character that ``PrintableText`` lets through nowhere. All of these have four digits.
    private static func code(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
