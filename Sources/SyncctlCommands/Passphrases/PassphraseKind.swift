/// Which passphrase a command asks for. It decides the names of the flags and variables.
enum PassphraseKind: String, CaseIterable, Sendable {
    /// The passphrase of the store that the command works on.
    case store
    /// The passphrase of a remote store's file.
    case remote
    /// The passphrase that replaces the present one, or that is added to it.
    case new
    /// The passphrase of the file that the command writes.
    case target
    /// The passphrase of the store that is cloned.
    case clone
    /// The passphrase of the archive that is read.
    case archive
    /// The passphrase of the bundle file that is read or written.
    case bundle

    /// The flag that names a file: `--remote-passphrase-file`.
    var fileFlag: String { "--\(prefix)passphrase-file" }
    /// The flag that names a command: `--remote-passphrase-command`.
    var commandFlag: String { "--\(prefix)passphrase-command" }
    /// The flag that names an open descriptor: `--remote-passphrase-fd`.
    var descriptorFlag: String { "--\(prefix)passphrase-fd" }

    /// The variable that names a file: `SYNCCTL_REMOTE_PASSPHRASE_FILE`.
    var fileVariable: String { "\(valueVariable)_FILE" }
    /// The variable that names a command: `SYNCCTL_REMOTE_PASSPHRASE_COMMAND`.
    var commandVariable: String { "\(valueVariable)_COMMAND" }
    /// The variable that holds the passphrase itself: `SYNCCTL_REMOTE_PASSPHRASE`.
    ///
    /// The last resort: other processes of the same user can read the environment of a process.
    var valueVariable: String {
        "SYNCCTL_\(prefix.uppercased().replacing("-", with: "_"))PASSPHRASE"
    }

    /// What prompts and messages call it: `remote passphrase`.
    var name: String {
        switch self {
        case .store: "passphrase"
        case .remote: "remote passphrase"
        case .new: "new passphrase"
        case .target: "target passphrase"
        case .clone: "clone passphrase"
        case .archive: "archive passphrase"
        case .bundle: "bundle passphrase"
        }
    }

    /// Whether it is the passphrase of something that is yet to be made. Nothing would notice a
    /// typing error in it, so it is asked for twice.
    var isNew: Bool {
        switch self {
        case .store, .remote, .clone, .archive, .bundle: false
        case .new, .target: true
        }
    }

    private var prefix: String {
        switch self {
        case .store: ""
        case .remote: "remote-"
        case .new: "new-"
        case .target: "to-"
        case .clone: "clone-"
        case .archive: "archive-"
        case .bundle: "bundle-"
        }
    }
}
