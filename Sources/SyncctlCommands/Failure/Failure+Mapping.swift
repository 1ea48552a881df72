import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncMembers
import SyncWire

extension Failure {
    /// Turns any error into words for the user and an exit code. The one place where errors of the libraries get their
    /// exit codes.
    ///
    /// - parameter store: The store that the command works on, for hints that name it.
    package init(explaining error: any Error, store: String? = nil) {
        let name = store.map(CommandWords.path) ?? "<store>"
        switch error {
        case let failure as Failure: self = failure
        case let error as StoreError: self.init(error, store: name)
        case let error as SyncError: self.init(error, store: name)
        case let error as DatabaseError: self.init(error, store: name)
        case let error as CSVError:
            self.init(error.description, hints: error.hint.map { [$0] } ?? [])
        case let error as WireError where error.isOfNewerVersion:
            self = .versionMismatch(
                "the remote sent a bundle of \(error.message)", hints: ["use a newer syncctl"])
        case let error as WireError:
            self.init("the remote sent something that can't be right: \(error)")
        case let error as MembershipError: self.init(error, store: name)
        case let error as ValidationError:
            self = .usage(error.message)
        case let error as CocoaError:
            // Its description is a dump of its user info.
            self.init((error.filePath.map { "\($0): " } ?? "") + error.systemText)
        default:
            self = NetworkSupport.access?.failure(explaining: error, store: store) ?? Failure("\(error)")
        }
    }
}
