import CipherStore
import Foundation
import SyncWire
import Synchronization

extension Synchronizer {
    /// Gives the function of a custom policy, which runs when changes come in.
    ///
    /// ```swift
    /// synchronizer.register(mergePolicy: "lines") { lost, won, _ in
    ///     let lines = [lost, won].flatMap { (String.fromDatabaseValue($0) ?? "").split(separator: "\n") }
    ///     return Set(lines).sorted().joined(separator: "\n").databaseValue
    /// }
    /// ```
    ///
    /// Its result is written as an edit of now when it is not the newer value. When it
    /// throws, both values go to the journal, the newer one stands, and the
    /// synchronization goes on. It runs inside of a transaction, so it must be quick and
    /// not use the database.
    ///
    /// - parameters:
    ///     - name: The name, as in ``ColumnPolicy/custom(_:_:merge:)``.
    ///     - function: The function; it replaces another one of the name.
    public func register(mergePolicy name: String, _ function: @escaping MergeFunction) {
        mergePolicies[name] = function
    }
}
