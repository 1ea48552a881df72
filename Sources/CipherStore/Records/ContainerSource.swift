/// Keeps a coding container, so that the next record of its type gets the same one.
///
/// A container has the type of its keys for a parameter. Where that type is not
/// known at compile time, to copy a container needs the metadata of its type,
/// which the runtime finds in a table at each use. An object knows the type of
/// what it holds, so that its copies need no table.
final class ContainerSource<Container> {
    @exclusivity(unchecked) private var container: Container

    /// Makes a source of a container.
    init(_ container: Container) { self.container = container }

    /// Returns the container. It must not be inlined: the caller does not have the metadata.
    @inline(never)
    func copy() -> Container { container }
}

/// What is asked of a source of whatever container.
protocol AnyContainerSource: AnyObject {
    /// Whether nobody else has the container.
    func isOnlyOwner() -> Bool
}

extension ContainerSource: AnyContainerSource {
    func isOnlyOwner() -> Bool {
        // The containers of the standard library are nothing but a reference to a box.
        guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return false }
        return withUnsafeMutablePointer(to: &container) { container in
            container.withMemoryRebound(to: AnyObject.self, capacity: 1) {
                isKnownUniquelyReferenced(&$0.pointee)
            }
        }
    }
}
