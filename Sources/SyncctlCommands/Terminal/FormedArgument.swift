import ArgumentParser

/// A value on the command line that says how it is written when it is not written so.
package protocol FormedArgument: ExpressibleByArgument, Sendable {
    /// The forms that are understood, for messages.
    static var forms: String { get }
}

extension FormedArgument {
    /// Reads a value.
    ///
    /// - throws: A `ValidationError` with the forms.
    @Sendable package static func parse(_ text: String) throws -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("write it as \(forms)") }
        return value
    }
}
