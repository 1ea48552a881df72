import Foundation
import TypedQueries

extension Date {
    /// Dates as milliseconds since 1970.
    public struct UnixMillisecondsRepresentation: QueryBindable, Sendable {
        /// An integer.
        public typealias QueryValue = Self
        /// The type of its values in Swift.
        public typealias QueryOutput = Date
        /// The date.
        public var queryOutput: Date

        /// Makes the representation of a date.
        public init(queryOutput: Date) { self.queryOutput = queryOutput }

        /// Reads a number of milliseconds.
        public init(decoder: inout some QueryDecoder) throws {
            let milliseconds = try decoder.value(Int64.self)
            queryOutput = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        }

        /// The number of milliseconds.
        public var queryBinding: QueryBinding {
            let milliseconds = (queryOutput.timeIntervalSince1970 * 1000).rounded()
            guard let number = Int64(exactly: milliseconds) else {
                return .invalid(QueryBindingError("the date is too far away to be stored in milliseconds"))
            }
            return .int(number)
        }
    }
}

extension Date.UnixMillisecondsRepresentation: JSONConvertedRepresentation {
    /// Adds the date as JSON has it: as the text of a date.
    package static func writeJSON(_ expression: QueryFragment, to fragment: inout QueryFragment) {
        Date.writeText(of: "(\(expression)) / 1000.0", "unixepoch", to: &fragment)
    }
}
