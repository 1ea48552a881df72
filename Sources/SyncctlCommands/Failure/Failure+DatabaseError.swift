import CipherStore

extension Failure {
    /// The words for an error of SQLite: which file, what the system says about it, and what to do. Its SQL is ours, and
    /// says nothing to the user.
    ///
    /// - parameter name: The store of the command, as hints name it.
    init(_ error: DatabaseError, store name: String) {
        if let storeError = error.storeError {
            self.init(storeError, store: name)
            return
        }
        let file = error.file.flatMap { $0.isEmpty || $0.hasPrefix(":") ? nil : $0 }
        let subject = file.map { "\($0): " } ?? ""
        if error.saysDiskIsFull {
            self = .full(file, "what was not finished was undone")
            return
        }
        let text = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                "\(subject)the store is in use by another process", hints: ["try again when it is done"],
                status: .storeBusy)
        case .SQLITE_NOTADB: self.init("\(subject)\(text)", status: .noKeyOpens)
        case .SQLITE_CORRUPT:
            self.init(
                "\(subject)the store is damaged: \(text)",
                hints: Self.hints(forDamaged: file.map(CommandWords.path) ?? name), status: .integrityFailed)
        case .SQLITE_INTERRUPT: self = .cancelled
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_PERM:
            self = Self.unusable(file, subject, text)
        // The statement that copies a database says of each error of the copy that it failed.
        case .SQLITE_ERROR where ResultCode.SQLITE_IOERR.description.hasSuffix("(\(text))"):
            self = Self.unusable(file, subject, text)
        default: self.init("\(subject)\(text) (SQLite error \(error.extendedResultCode.rawValue))")
        }
    }

    /// What to do about a damaged store.
    ///
    /// - parameter name: The store, as a command takes it.
    static func hints(forDamaged name: String) -> [String] {
        [
            "see what is damaged with: syncctl verify \(name) --deep",
            "keep a copy of it as it is, then take another replica (syncctl init <new> --clone <replica>) or a backup (syncctl init <new> --from <backup>.csa)",
        ]
    }

    /// SQLite could not open, read or write a file.
    private static func unusable(_ file: String?, _ subject: String, _ text: String) -> Failure {
        if let file, let obstacle = FileObstacle.find(file) {
            return Failure(obstacle.message(file), hints: [obstacle.hint])
        }
        let limit = FileSizeLimit.current
        return Failure(
            "\(subject)\(text); what was not finished was undone",
            hints: limit.map { [$0.hint] } ?? [])
    }
}
