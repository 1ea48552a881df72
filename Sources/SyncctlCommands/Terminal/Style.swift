import ArgumentParser

/// When to colour: the value of `--color`.
enum ColorPolicy: String, CaseIterable, ExpressibleByArgument, Sendable {
    case auto
    case always
    case never

    /// Whether a stream is coloured.
    ///
    /// The flag decides first. With `auto`, `NO_COLOR` (not empty) switches colour off,
    /// `CLICOLOR_FORCE` (not empty, not `0`) switches it on even in a pipe, and otherwise a
    /// terminal is coloured unless `TERM` is `dumb`.
    func isEnabled(isTerminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if !environment["NO_COLOR", default: ""].isEmpty { return false }
        if !["", "0"].contains(environment["CLICOLOR_FORCE", default: ""]) { return true }
        return isTerminal && environment["TERM"] != "dumb"
    }
}

/// The few ways in which `syncctl` emphasises text; without colour, the text as it is.
package struct Style: Equatable, Sendable {
    let isEnabled: Bool

    /// A style that changes nothing.
    package static let plain = Style(isEnabled: false)

    package enum Emphasis: Int, Sendable {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }

    func bold(_ text: String) -> String { apply(.bold, to: text) }
    func dim(_ text: String) -> String { apply(.dim, to: text) }
    func green(_ text: String) -> String { apply(.green, to: text) }
    func yellow(_ text: String) -> String { apply(.yellow, to: text) }
    func red(_ text: String) -> String { apply(.red, to: text) }

    func apply(_ emphasis: Emphasis, to text: String) -> String {
        isEnabled && !text.isEmpty ? "\u{1B}[\(emphasis.rawValue)m\(text)\u{1B}[0m" : text
    }
}
