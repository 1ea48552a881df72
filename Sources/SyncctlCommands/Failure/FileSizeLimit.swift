import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The size that no file of this process may outgrow, as a shell sets it: `ulimit -f`.
struct FileSizeLimit: Equatable {
    /// The size.
    let byteCount: UInt64

    /// The limit that is set; nil when there is none.
    static var current: FileSizeLimit? {
        ProcessHardening.fileSizeLimit().map { FileSizeLimit(byteCount: $0) }
    }

    /// The limit, where it ended a write of which SQLite says that the disk is full: it says so of both. A disk that has
    /// room for a file as large as the limit was not full.
    ///
    /// - parameter path: The file, which may not be there; nil for one of the current folder.
    static func instead(ofFullDisk path: String?) -> FileSizeLimit? {
        guard let limit = current else { return nil }
        let folder = path.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? "."
        var space = statvfs()
        guard statvfs(folder, &space) == 0 else { return limit }
        let (free, overflow) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        return overflow || free >= limit.byteCount ? limit : nil
    }

    /// What it is.
    var text: String { "no file may grow beyond \(HumanFormat.bytes(Int(clamping: byteCount))) here" }

    /// The same, with where to look.
    var hint: String { "\(text): see ulimit -f" }
}

extension Failure {
    /// There was no room for what was written.
    ///
    /// - parameters:
    ///   - path: The file; nil for one that is not known.
    ///   - outcome: What became of what was begun.
    static func full(_ path: String?, _ outcome: String) -> Failure {
        let subject = path.map { "\($0): " } ?? ""
        guard let limit = FileSizeLimit.instead(ofFullDisk: path) else {
            return Failure(
                "\(subject)the disk is full; \(outcome)", hints: ["free some space and try again"])
        }
        return Failure(
            "\(subject)\(limit.text); \(outcome)", hints: ["it is a limit of the shell: see ulimit -f"])
    }
}
