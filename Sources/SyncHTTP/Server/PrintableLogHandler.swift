import Logging

/// Passes log lines on with nothing in them that a terminal obeys, and each in one line.
///
/// Labels, paths, names and errors of others stand in many lines. Whoever adds a line can forget to escape them; this
/// can't.
package struct PrintableLogHandler: LogHandler {
    private var base: any LogHandler

    /// - parameter base: Where the lines go.
    package init(_ base: any LogHandler) { self.base = base }

    /// A logger that passes its lines on to another one's handler.
    package static func logger(_ logger: Logger) -> Logger {
        var result = Logger(label: logger.label) { _ in PrintableLogHandler(logger.handler) }
        result.logLevel = logger.logLevel
        return result
    }

    package var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = Self.printable(newValue) }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    package var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue.map(Self.printable) }
    }

    package func log(event: LogEvent) {
        var event = event
        event.message = "\(LogText.printable(event.message.description))"
        event.metadata = event.metadata.map(Self.printable)
        event.error = event.error.map { PrintableError(description: LogText.printable("\($0)")) }
        base.log(event: event)
    }

    /// An error of which the text is left.
    private struct PrintableError: Error, CustomStringConvertible {
        let description: String
    }

    private static func printable(_ metadata: Logger.Metadata) -> Logger.Metadata {
        Dictionary(
            metadata.map { (LogText.printable($0), printable($1)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func printable(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
        switch value {
        case .string(let text): .string(LogText.printable(text))
        case .stringConvertible(let value): .string(LogText.printable(value.description))
        case .dictionary(let metadata): .dictionary(printable(metadata))
        case .array(let values): .array(values.map(printable))
        }
    }
}
