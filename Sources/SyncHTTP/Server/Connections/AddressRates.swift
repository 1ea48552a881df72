import NIOCore
import Synchronization

/// Lets each address through a bounded number of times, so that one of them can't take what is there for all.
package final class AddressRates: Sendable {
    /// The addresses that are remembered. Those that came last count: whoever has more addresses than that is
    /// bounded by what is let through of all together.
    static let addressCountMax = 4_096

    private struct Entry {
        let rate: RateLimit
        var number: UInt64
    }

    private let perSecond: Double
    private let message: String
    private let entries = Mutex<(rates: [String: Entry], last: UInt64)>(([:], 0))

    /// - parameter perSecond: How often one address is let through; ten times as often at once.
    init(perSecond: Double, _ message: String) {
        self.perSecond = perSecond
        self.message = message
    }

    /// How many addresses are remembered.
    var addressCount: Int { entries.withLock { $0.rates.count } }

    /// - throws: ``RemoteError`` of code `busy`.
    func take(_ address: SocketAddress?) throws {
        let name = Self.name(address)
        let rate = entries.withLock { entries in
            entries.last &+= 1
            if var entry = entries.rates[name] {
                entry.number = entries.last
                entries.rates[name] = entry
                return entry.rate
            }
            if entries.rates.count >= Self.addressCountMax {
                // Half of them go at once, so that this is rare.
                let numbers = entries.rates.values.map(\.number).sorted()
                let middle = numbers[numbers.count / 2]
                entries.rates = entries.rates.filter { $0.value.number > middle }
            }
            let rate = RateLimit(perSecond: perSecond, burst: perSecond * 10, message)
            entries.rates[name] = Entry(rate: rate, number: entries.last)
            return rate
        }
        try rate.take()
    }

    /// What counts as one address: of IPv6 the first 64 bits, which one subscriber has for himself (RFC 6177).
    package static func name(_ address: SocketAddress?) -> String {
        switch address {
        case .v4(let address):
            var raw = address.address.sin_addr
            return withUnsafeBytes(of: &raw) { "4 " + $0.map { String($0) }.joined(separator: ".") }
        case .v6(let address):
            var raw = address.address.sin6_addr
            return withUnsafeBytes(of: &raw) { bytes in
                // An IPv4 address in IPv6's clothes.
                if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
                    return "4 " + bytes.suffix(4).map { String($0) }.joined(separator: ".")
                }
                return "6 " + bytes.prefix(8).map { String($0) }.joined(separator: ".")
            }
        case .unixDomainSocket, nil: return "local"
        }
    }
}
