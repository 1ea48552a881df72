import CipherStore

/// What to do about a keyring, or the copy beside it, that is missing or can't be used.
///
/// Nobody is told to write over one: a keyring that looks useless may hold the only key.
struct KeyringAdvice {
    private enum State: Equatable {
        case whole
        case missing
        case damaged
        /// It may be whole, but this process can't read it.
        case unread(advice: String)
    }

    private let store: String
    private let keyring: Keyring
    private let state: State
    private let copyState: State

    /// Reads the keyring of a store, and its copy; no passphrase is needed.
    init(store: String) {
        self.store = store
        let keyring = Keyring(store: store)
        self.keyring = keyring
        state = Self.state(of: keyring.path) {
            _ = try keyring.information()
            return true
        }
        copyState = Self.state(of: keyring.copyPath) { try keyring.checkCopy() }
    }

    /// Whether the copy is missing.
    var lacksCopy: Bool { copyState == .missing }

    /// All that there is to do.
    var lines: [String] { [forKeyring, forCopy].compactMap { $0 } }

    /// What to do about the keyring; nil when it is whole and the store's.
    var forKeyring: String? {
        switch state {
        case .whole:
            guard let isOwn = try? keyring.belongsToStore(), !isOwn else { return nil }
            return
                "rename \(name), and put the store's own keyring there; if its passphrase opens the store by itself, begin a new one, which sets this aside: syncctl key add \(CommandWords.path(store)) --recovery"
        case .unread(let advice): return advice
        case .missing:
            return copyState == .whole
                ? "put its copy there: cp \(copyName) \(name)" : "put a backup of the keyring there: \(name)"
        case .damaged:
            let aside = "mv -n \(name) \(CommandWords.path(keyring.path + ".damaged"))"
            return copyState == .whole
                ? "keep the damaged keyring under another name, and put its copy there: \(aside) && cp -n \(copyName) \(name)"
                : "keep the damaged keyring under another name, and put a backup of it there that is no older than the last change of the data key: \(aside)"
        }
    }

    /// What to do about the copy; nil when it is whole, or the keyring is not, which comes first.
    var forCopy: String? {
        if case .unread(let advice) = copyState { return advice }
        guard state == .whole else { return nil }
        switch copyState {
        case .missing: return "make the copy again: cp \(name) \(copyName)"
        case .damaged:
            let aside = "mv -n \(copyName) \(CommandWords.path(keyring.copyPath + ".damaged"))"
            return "make the copy again; the keyring itself is whole: \(aside) && cp -n \(name) \(copyName)"
        case .whole, .unread: return nil
        }
    }

    private var name: String { CommandWords.path(keyring.path) }
    private var copyName: String { CommandWords.path(keyring.copyPath) }

    /// - parameter isThere: Says whether there is the file, and throws when it is not whole.
    private static func state(of path: String, _ isThere: () throws -> Bool) -> State {
        do {
            return try isThere() ? .whole : .missing
        } catch {
            switch (error as? StoreError)?.code {
            case .keyringMissing: return .missing
            case .keyringDamaged: return .damaged
            case .formatTooNew:
                return .unread(advice: "use a newer syncctl; one has written \(CommandWords.path(path))")
            default:
                return .unread(
                    advice: FileObstacle.find(path)?.hint
                        ?? "look at it with: ls -ld \(CommandWords.path(path))")
            }
        }
    }
}
