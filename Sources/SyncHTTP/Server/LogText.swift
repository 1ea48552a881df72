/// What others wrote, as it may stand in a log: in one line, and without anything that a terminal obeys.
package enum LogText {
    private static let characterCountMax = 1_000

    /// The text with what is no printable character as its code, and cut where it is long.
    package static func printable(_ text: String) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < characterCountMax else { return result + "…" }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
