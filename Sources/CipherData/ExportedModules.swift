@_exported import CipherStore
@_exported import SyncEngine
