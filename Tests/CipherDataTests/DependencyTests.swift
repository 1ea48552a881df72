import CipherDataTesting
import Foundation
import Testing

@testable import CipherData

/// What a program depends on.
struct DependencyTests {
    private enum Number: DependencyKey {
        static var liveValue: Int { 1 }
        static var testValue: Int { 2 }
    }

    private enum Prepared: DependencyKey { static var liveValue: String { "default" } }

    @Test func aValueIsThatOfItsContext() {
        #expect(DependencyValues.current.context == .test)
        let value = withDependencies { _ in
        } operation: {
            DependencyValues.current[Number.self]
        }
        #expect(value == 2)
    }

    @Test func valuesHoldForAClosureAndItsTasks() async {
        await withDependencies {
            $0[Number.self] = 5
        } operation: {
            #expect(DependencyValues.current[Number.self] == 5)
            let inner = await Task { DependencyValues.current[Number.self] }.value
            #expect(inner == 5)
            withDependencies {
                $0[Number.self] += 1
            } operation: {
                #expect(DependencyValues.current[Number.self] == 6)
            }
        }
        #expect(DependencyValues.current[Number.self] == 2)
    }

    @Test func aPropertyKeepsTheValuesOfThePlaceWhereItWasMade() throws {
        final class Model { @Dependency(\.defaultDatabase) var database }
        let queue = try DatabaseQueue()
        let model = withDependencies {
            $0.defaultDatabase = queue
        } operation: {
            Model()
        }
        #expect(model.database === queue)
        let other = try DatabaseQueue()
        withDependencies {
            $0.defaultDatabase = other
        } operation: {
            #expect(model.database === other)
        }
    }

    @Test func toPrepareAValueTwiceIsCounted() {
        let prepared = PreparedDependencies()
        var values = DependencyValues()
        values[Prepared.self] = "one"
        #expect(prepared.set(values) == 0)
        values[Prepared.self] = "two"
        #expect(prepared.set(values) == 1)
        #expect(prepared.value(Prepared.self) { "default" } == "two")
    }

    @Test func aValueThatWasUsedCountsAsSet() {
        let prepared = PreparedDependencies()
        #expect(prepared.value(Prepared.self) { "default" } == "default")
        var values = DependencyValues()
        values[Prepared.self] = "one"
        #expect(prepared.set(values) == 1)
    }

    @Test func theContextOfAProgramCanBePrepared() {
        let prepared = PreparedDependencies()
        #expect(prepared.context == nil)
        var values = DependencyValues()
        values.context = .preview
        #expect(prepared.set(values) == 0)
        #expect(prepared.context == .preview)
        #expect(prepared.set(values) == 1)
    }

    @Test func theContextShowsFromTheStartOfTheProgram() {
        let app = "/Applications/App"
        #expect(DependencyContext.detect([app], [:], "App") == .live)
        #expect(DependencyContext.detect([app], ["XCODE_RUNNING_FOR_PREVIEWS": "0"], "App") == .live)
        #expect(DependencyContext.detect([app], ["XCODE_RUNNING_FOR_PREVIEWS": "1"], "App") == .preview)
        for name in ["XCTestConfigurationFilePath", "XCTestBundlePath"] {
            #expect(DependencyContext.detect([app], [name: "/tmp/App.xctest"], "App") == .test)
        }
        #expect(DependencyContext.detect(["/tmp/App.xctest"], [:], "App") == .test)
        #expect(DependencyContext.detect(["x", "--testing-library", "y"], [:], "x") == .test)
        #expect(DependencyContext.detect(["x"], [:], "swiftpm-testing-helper") == .test)
    }

    @Test func aTraitSetsValuesInTheContextOfTests() async throws {
        let test = try #require(Test.current)
        try await withDependencies {
            $0.context = .live
        } operation: {
            try await confirmation(expectedCount: 2) { confirm in
                let trait: DependenciesTrait = .dependencies { _ in
                    #expect(DependencyValues.current.context == .test)
                    confirm()
                }
                try await trait.provideScope(for: test, testCase: Test.Case.current) {
                    #expect(DependencyValues.current.context == .test)
                    confirm()
                }
            }
        }
    }

    @Test func testsGetTemporaryDatabasesThatDiffer() throws {
        let first = try defaultDatabase(path: "/nowhere/app.db", configuration: .encrypted)
        let second = try defaultDatabase(configuration: .encrypted)
        #expect(first.path != second.path)
        #expect(first.path.hasPrefix(NSTemporaryDirectory()))
        try first.execute("CREATE TABLE a (n)")
        for database in [first, second] {
            try database.close()
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: database.path + suffix)
            }
        }
    }
}

/// Dependencies of a suite.
@Suite(.dependencies { $0.defaultDatabase = try DatabaseQueue() }) struct DependenciesTraitTests {
    @Dependency(\.defaultDatabase) private var database

    @Test(arguments: 0..<3) func eachTestHasADatabaseOfItsOwn(number: Int) throws {
        try database.execute("CREATE TABLE a (n)")
        #expect(try database.read { db in try db.tableExists("a") })
    }
}

/// One dependency of a suite.
@Suite(.dependency(\.defaultDatabase, try DatabaseQueue())) struct DependencyTraitTests {
    @Dependency(\.defaultDatabase) private var database

    @Test(arguments: 0..<3) func eachTestHasADatabaseOfItsOwn(number: Int) throws {
        try database.execute("CREATE TABLE a (n)")
        #expect(try database.read { db in try db.tableExists("a") })
    }
}
