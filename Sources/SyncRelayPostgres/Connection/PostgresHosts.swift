import Synchronization

/// The hosts of a connection string, one by one. The one that answered last is asked first.
///
/// libpq goes on to the next one when a host refuses. At one that says nothing, such as a machine without power, it would
/// stay until the time of all is over.
final class PostgresHosts: Sendable {
    typealias Parameters = [(name: String, value: String)]

    private let hosts: [Parameters]
    private let first = Mutex(0)

    init(_ parameters: Parameters) { hosts = Self.split(parameters) }

    /// The parameters for each, in the order in which they are to be asked. There is at least one.
    var inOrder: [(number: Int, parameters: Parameters)] {
        let first = first.withLock { $0 }
        return hosts.indices.map { place in
            let number = (first + place) % hosts.count
            return (number, hosts[number])
        }
    }

    /// Notes the number of a host that answered.
    func note(_ number: Int) { first.withLock { $0 = number } }

    private static let lists: Set<String> = ["host", "hostaddr", "port"]
    private static let usualPort = "5432"

    /// What is no list, or none that libpq takes, stays as it is.
    private static func split(_ parameters: Parameters) -> [Parameters] {
        var values: [String: [String]] = [:]
        for (name, value) in parameters where lists.contains(name) && !value.isEmpty {
            values[name] = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses) = (values["host"] ?? [], values["hostaddr"] ?? [])
        let count = max(names.count, addresses.count)
        // One without a name is that of the machine, which libpq knows and a single one can't say.
        guard count > 1, names.isEmpty || names.count == count,
            addresses.isEmpty || addresses.count == count, !(names + addresses).contains(""),
            [0, 1, count].contains(values["port"]?.count ?? 0)
        else { return [parameters] }
        return (0..<count).map { number in
            parameters.map { name, value in
                guard let list = values[name] else { return (name, value) }
                let one = list[list.count == 1 ? 0 : number]
                return (name, one.isEmpty ? usualPort : one)
            }
        }
    }
}
