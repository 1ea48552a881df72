import CipherStore
import Foundation

/// The keys that tests derive. Deriving one is slow on purpose, and most tests are about something else.
public enum DerivedKeys {
    /// The variable that names a folder for the keys, which `Scripts/test` keeps.
    public static let folderVariable = "CIPHERSTORE_KEYS_OF_TESTS"

    /// The folder, if there is one.
    public static var folder: String? { ProcessInfo.processInfo.environment[folderVariable] }

    private static let enabled: Void = {
        #if DEBUG
            if let folder { return DerivedKeyMemo.enable(sharing: folder) }
        #endif
        DerivedKeyMemo.enable()
    }()

    /// Derives each key once from here on.
    public static func remember() { enabled }
}
