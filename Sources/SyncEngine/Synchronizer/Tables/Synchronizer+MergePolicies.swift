import CipherStore
import Foundation
import SyncWire
import Synchronization

extension Synchronizer {
    /// Registers the function of a custom policy. It runs when changes come in.
    ///
    /// ```swift
    /// synchronizer.register(mergePolicy: "lines") { lost, won, _ in
    ///     let lines = [lost, won].flatMap { (String.fromDatabaseValue($0) ?? "").split(separator: "\n") }
    ///     return Set(lines).sorted().joined(separator: "\n").databaseValue
    /// }
    /// ```
    ///
    /// If its result is not the newer value, it is written as an edit of the present. If the function throws,
    /// both values go to the journal, the newer one stands, and the synchronization goes on. It runs inside
    /// of a transaction, so it must be quick and not use the database.
    ///
    /// - parameters:
    ///     - name: The name, as in ``ColumnPolicy/custom(_:_:merge:)``.
    ///     - function: The function. It replaces a function that is registered under the same name.
    public func register(mergePolicy name: String, _ function: @escaping MergeFunction) {
        mergePolicies[name] = function
    }
}
