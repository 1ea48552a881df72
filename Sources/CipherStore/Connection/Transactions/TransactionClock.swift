import Foundation

/// A clock that gives the date of a transaction.
///
/// ```swift
/// configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 0) }
/// ```
public protocol TransactionClock: Sendable {
    /// Returns the date that all records of the current transaction share.
    ///
    /// - parameter db: The connection that asks, inside its transaction if there is one.
    func now(_ db: Database) throws -> Date
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The clock of the system.
    public static var `default`: DefaultTransactionClock { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// A clock that asks a function.
    public static func custom(_ now: @escaping @Sendable (Database) throws -> Date) -> CustomTransactionClock
    {
        CustomTransactionClock(now)
    }
}

/// The clock of the system.
public struct DefaultTransactionClock: TransactionClock {
    /// Makes the clock.
    public init() {}

    /// Returns the current date.
    public func now(_ db: Database) -> Date { Date() }
}

/// A clock that asks a function.
public struct CustomTransactionClock: TransactionClock {
    private let function: @Sendable (Database) throws -> Date

    /// Makes a clock of a function.
    public init(_ now: @escaping @Sendable (Database) throws -> Date) { function = now }

    /// Returns the function's date.
    public func now(_ db: Database) throws -> Date { try function(db) }
}
