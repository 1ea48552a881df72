import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

@Suite struct LibraryTests {
    @Test func aMissingLibraryIsNamedWithWhatInstallsIt() {
        #expect {
            _ = try LibPQ.load(["libnothing-at-all.so.5"])
        } throws: { error in
            let message = (error as? LibPQ.LoadingError)?.message ?? ""
            return message.contains("libpq") && message.contains("install")
        }
    }

    @Test func aLibraryThatLacksAFunctionIsRefusedWhenItIsLoaded() {
        #if canImport(Darwin)
            let other = "libSystem.B.dylib"
        #else
            let other = "libm.so.6"
        #endif
        #expect {
            _ = try LibPQ.load([other])
        } throws: { error in
            (error as? LibPQ.LoadingError)?.message.contains("PQconninfoParse") == true
        }
    }

    @Test(.needsPostgres) func theFirstLibraryThatIsThereIsTaken() throws {
        _ = try LibPQ.load(["libnothing-at-all.so.5"] + LibPQ.names)
    }
}

@Suite(.needsPostgres, .fewAtATime) struct AddressTests {
    @Test(arguments: [
        ("postgresql:///relay?host=/var/run/postgresql", "postgresql:///relay?host=/var/run/postgresql"),
        ("postgres://anna@db.example:5433/relay", "postgresql://db.example:5433/relay"),
        ("host=/tmp dbname=relay user=anna", "postgresql:///relay?host=/tmp"),
        ("postgresql://", "postgresql:///"),
    ])
    func aConnectionStringIsRead(_ text: String, _ description: String) throws {
        let address = try PostgresAddress(text)
        #expect("\(address)" == description && !address.hasPassword)
    }

    @Test(arguments: [
        "postgresql://anna:s3cret@db.example/relay", "postgresql://db.example/relay?password=s3cret",
        "host=db.example password=s3cret", "postgresql://db.example/relay?sslpassword=s3cret",
        "postgresql://anna:s3cret@[::1]:5433,other/relay?sslmode=require",
    ])
    func aPasswordIsNotTold(_ text: String) throws {
        let address = try PostgresAddress(text)
        #expect(address.hasPassword)
        var dumped = "\(address)" + String(reflecting: address)
        dump(address, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }

    @Test(arguments: [
        "postgresql://anna:s3cret@db.example:port:port/relay?s3cret", "postgresql://db/relay?s3cret=1",
        "s3cret",
        "postgresql://anna:s3cret@[::1/relay", "postgresql://%s3cret", "host=a s3cret", "a\0b",
        "postgresql://" + String(repeating: "s3cret", count: 1_000),
    ])
    func whatIsNoConnectionStringIsRefusedAndNotQuoted(_ text: String) {
        do {
            _ = try PostgresAddress(text)
            Issue.record("nothing was thrown")
        } catch let error as RelayStorageError {
            #expect(error.code == .cannotOpen && !"\(error)".contains("s3cret"))
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: [
        ("postgresql://a/relay", ["a:-"]), ("postgresql://a:1,b:2/relay", ["a:1", "b:2"]),
        ("postgresql://a,b/relay", ["a:5432", "b:5432"]), ("postgresql://a,b:2/relay", ["a:5432", "b:2"]),
        ("host=a,b dbname=relay", ["a:-", "b:-"]), ("host=a,b,c port=7", ["a:7", "b:7", "c:7"]),
        // These are libpq's.
        ("host=a,,b", ["a,,b:-"]), ("host=a,b port=1,2,3", ["a,b:1,2,3"]),
        ("host=a,b hostaddr=127.0.0.1", ["a,b:-"]),
    ])
    func eachHostIsAskedByItself(_ text: String, _ expected: [String]) throws {
        let hosts = try PostgresAddress(text).hosts.inOrder.map { _, parameters in
            let values = Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0.value) })
            return (values["host"] ?? "-") + ":" + (values["port"] ?? "-")
        }
        #expect(hosts == expected)
    }

    @Test func addressesAreToldFromFiles() {
        for text in ["postgres:///a", "postgresql://h/a", "POSTGRES://a"] {
            #expect(PostgresAddress.isAddress(text))
        }
        for text in ["relay.db", "/var/lib/postgres", "postgres", "./postgresql", "host=/tmp", ""] {
            #expect(!PostgresAddress.isAddress(text))
        }
    }
}
