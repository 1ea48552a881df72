/// Which way changes go.
public enum SyncDirection: String, Sendable {
    /// From the remote to this store.
    case pull
    /// From this store to the remote.
    case push
    /// Both ways: first from the remote, then to it.
    case both
}
