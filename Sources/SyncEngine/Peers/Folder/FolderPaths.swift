import CipherStore
import Foundation
import SyncWire

/// The names of a replica's files in a folder.
struct FolderPaths {
    static let headName = "head"
    static let bundleSuffix = ".bundle"
    static let snapshotSuffix = ".csa"

    let replica: ReplicaID

    init(_ replica: ReplicaID) { self.replica = replica }

    /// The subfolder of the replica.
    var folder: String { replica.description }

    func file(_ name: String) -> MailboxPath { MailboxPath(folder: folder, name: name) }

    /// A name that was never used before: bundles never change.
    static func bundleName(_ number: Int64, _ random: UInt64) -> String {
        digits(number) + "-" + hexadecimal(random) + bundleSuffix
    }

    static func snapshotName(_ milliseconds: Int64, _ random: UInt64) -> String {
        digits(milliseconds) + "-" + hexadecimal(random) + snapshotSuffix
    }

    /// The number in the name of a bundle; nil for other names, such as those that Dropbox and
    /// Syncthing give to conflicting copies, and for temporary ones.
    static func number(ofBundle name: String) -> Int64? {
        guard name.hasSuffix(bundleSuffix) else { return nil }
        return number(name.dropLast(bundleSuffix.count))
    }

    static func isSnapshot(_ name: String) -> Bool { number(ofSnapshot: name) != nil }

    /// When a snapshot was written, in milliseconds, by its name; nil for other names.
    static func number(ofSnapshot name: String) -> Int64? {
        guard name.hasSuffix(snapshotSuffix) else { return nil }
        return number(name.dropLast(snapshotSuffix.count))
    }

    private static func number(_ stem: Substring) -> Int64? {
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, parts[1].utf8.count == 16,
            parts[0].utf8.allSatisfy({ (48...57).contains($0) }),
            parts[1].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        return Int64(parts[0])
    }

    /// The last number that has 16 digits. A forged head may list bundles up to it, and nobody sees a longer name.
    private static let numberMax: Int64 = 9_999_999_999_999_999

    private static func digits(_ number: Int64) -> String {
        let text = String(min(max(0, number), numberMax))
        return String(repeating: "0", count: max(0, 16 - text.count)) + text
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// Whether a name is that of a file that a writer did not finish, which a ``LocalFolder`` gives.
    static func isLeftover(_ name: String) -> Bool {
        let marks = [".sealed-", ".archive-"].compactMap { name.range(of: $0) }
        guard let mark = marks.first else { return false }
        let stem = String(name[..<mark.lowerBound])
        return
            (stem == headName || number(ofBundle: stem) != nil || isSnapshot(stem)
            || StatementFile.isName(stem))
            && FileReplacement.isTemporary(name[mark.upperBound...].prefix(16))
    }
}
