import Foundation

/// Finds programs as a shell does.
package enum ProgramSearch {
    /// Where the system looks when `PATH` is not set.
    private static let usualFolders = "/usr/local/bin:/usr/bin:/bin"

    /// The file of a program; nil when no folder has it.
    ///
    /// - parameters:
    ///   - name: Its name, without a folder.
    ///   - folders: What `PATH` says: folders that are separated by colons, of which an empty one is the current one.
    package static func find(_ name: String, in folders: String?) -> String? {
        let parts = (folders ?? usualFolders).split(separator: ":", omittingEmptySubsequences: false)
        return parts.lazy.map { ($0.isEmpty ? "." : String($0)) + "/" + name }.first { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                && FileManager.default.isExecutableFile(atPath: path)
        }
    }
}
