import SyncWire

/// The versions of the formats that this library writes and speaks.
package enum SyncFormats {
    /// Of the metadata tables in a store (`Schemas/metadata`).
    package static var metadata: Int { Int(MetadataSchema.version) }
    /// Of shared folders (`Schemas/folder`).
    package static var folder: Int { FolderHead.version }
    /// Of bundles (`Schemas/wire`).
    package static var bundle: Int { Int(BundleHeader.version) }
    /// Of the greetings between replicas (`Schemas/wire`).
    package static var greeting: Int { Int(Greeting.version) }
}
