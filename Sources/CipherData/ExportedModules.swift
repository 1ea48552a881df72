// Names that both have, such as `Table`, are those of TypedQueries for who imports this module only, so CipherStore is not
// exported once more: TypedQueries does it.
@_exported import SyncEngine
@_exported import TypedQueriesMacros
