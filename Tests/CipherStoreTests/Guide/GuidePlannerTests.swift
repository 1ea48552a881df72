import CipherStore
import Foundation
import Testing

/// A small app from its tables to its screens: what a user meets who follows an
/// article on associations, observation and values of one's own.
@MainActor @Suite struct GuidePlannerTests {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.file("planner.db"), configuration: .keyed("deadline"))
    }

    // MARK: Tables

    @Test func aTaskNeedsAProjectAndGoesWithIt() throws {
        try Planner.migrator().migrate(queue)
        try queue.write { db throws in
            let index = try #require(try db.indexes(on: "task").first)
            #expect(index.columns == ["projectId"])
            var orphan = Planner.Task(projectId: 7, name: "Nobody's")
            let error = #expect(throws: DatabaseError.self) { try orphan.insert(db) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)

            let fence = try Planner.Project.make(db, "Fence", tasks: ["Measure", "Buy wood"])
            try Planner.Project.make(db, "Roof", tasks: ["Count tiles"])
            try fence.delete(db)
            #expect(try Planner.Task.fetchAll(db).map(\.name) == ["Count tiles"])
        }
    }

    @Test func aMigrationThatWasEditedStartsAfresh() throws {
        try Planner.migrator().migrate(queue)
        try queue.write { _ = try Planner.Project.make($0, "Fence") }
        try Planner.migrator().migrate(queue)
        #expect(try queue.read { try Planner.Project.fetchCount($0) } == 1)
        try Planner.migrator(withLooks: true).migrate(queue)
        #expect(try queue.read { try Planner.Project.fetchCount($0) } == 0)
        #expect(try queue.read { try $0.columns(in: "project").map(\.name).last } == "banner")
    }

    // MARK: Associations

    @Test func projectsAndTasksFindEachOther() throws {
        try Planner.migrator().migrate(queue)
        try queue.write { db throws in
            let fence = try Planner.Project.make(db, "Fence", tasks: ["Measure", "Buy wood", "Paint"])
            try Planner.Project.make(db, "Roof", isDraft: true, tasks: ["Count tiles"])
            var measure = try #require(try fence.tasks.fetchOne(db))
            try measure.updateChanges(db) { $0.isDone = true }

            #expect(try fence.tasks.fetchAll(db).map(\.name) == ["Measure", "Buy wood", "Paint"])
            let done = try fence.tasks.filter(Column("isDone") == true).fetchAll(db)
            #expect(done.map(\.name) == ["Measure"])
            #expect(try fence.tasks.filter(Column("isDone") == false).fetchCount(db) == 2)
            #expect(try measure.project.fetchOne(db)?.name == "Fence")
            #expect(try Planner.Project.drafts().fetchAll(db).map(\.name) == ["Roof"])
        }
    }

    // MARK: Observation

    @Test(.timeLimit(.minutes(20))) func aScreenShowsTheTasksOfItsProjectUntilItCloses() async throws {
        try Planner.migrator().migrate(queue)
        let (fence, roof) = try await queue.write { db in
            (
                try Planner.Project.make(db, "Fence", tasks: ["Measure"]),
                try Planner.Project.make(db, "Roof", tasks: ["Count tiles"])
            )
        }
        let screen = TaskScreen()
        screen.open(fence, in: queue)
        await screen.waits { $0 == ["Measure"] }
        try await queue.write { _ = try fence.add($0, "Buy wood") }
        await screen.waits { $0 == ["Measure", "Buy wood"] }
        #expect(screen.shown.allSatisfy { !$0.contains("Count tiles") })

        screen.close()
        let count = screen.shown.count
        try await queue.write { _ = try fence.add($0, "Paint") }
        // Whatever the closed screen could have been told would have come before this.
        let other = TaskScreen()
        other.open(fence, in: queue)
        await other.waits { $0.last == "Paint" }
        other.close()
        #expect(screen.shown.count == count)
        #expect(try await queue.read { try roof.tasks.fetchCount($0) } == 1)
    }

    @Test(.timeLimit(.minutes(20))) func aScreenIsToldWhyItsTasksCannotBeRead() async throws {
        let screen = TaskScreen()
        screen.open(Planner.Project(id: 1, name: "No tables yet"), in: queue)
        await screen.waitsForFailure()
        #expect((screen.failure as? DatabaseError)?.message == "no such table: task")
        #expect(screen.shown.isEmpty)
    }

    // MARK: Values of one's own, and keys

    @Test(arguments: [Planner.Look(color: "#005eff"), Planner.Look(color: nil, banner: "oak.png"), .init()])
    func aValueIsKeptInTwoColumns(_ look: Planner.Look) throws {
        try Planner.migrator(withLooks: true).migrate(queue)
        let due = Date(timeIntervalSince1970: 1_577_000_000)
        let id = try queue.write { db in
            var project = Planner.StyledProject(name: "Fence", due: due, look: look)
            try project.insert(db)
            return project.id
        }
        #expect(id == 1)
        let (project, row) = try queue.read { db in
            (
                try Planner.StyledProject.fetchOne(db, key: 1),
                try Row.fetchOne(db, sql: "SELECT accent, banner FROM project")
            )
        }
        #expect(project == Planner.StyledProject(id: 1, name: "Fence", due: due, look: look))
        #expect(row == ["accent": look.color, "banner": look.banner])
    }

    @Test func aProjectIsFoundByItsKey() throws {
        try Planner.migrator(withLooks: true).migrate(queue)
        try queue.write { db throws in
            for name in ["Fence", "Roof"] {
                var project = Planner.StyledProject(name: name, look: .init())
                try project.insert(db)
            }
            #expect(try Planner.StyledProject.fetchOne(db, key: 2)?.name == "Roof")
            #expect(try Planner.StyledProject.fetchOne(db, key: 3) == nil)
            #expect(try Planner.StyledProject.find(db, key: 1).name == "Fence")
            #expect(throws: RecordError.self) { try Planner.StyledProject.find(db, key: 3) }
            #expect(try Planner.StyledProject.filter(keys: [1, 2, 3]).fetchCount(db) == 2)
            #expect(try Planner.StyledProject.deleteOne(db, key: 2))
            #expect(try Planner.StyledProject.exists(db, key: 2) == false)
        }
    }
}

/// The model of the app.
enum Planner {
    static func migrator(withLooks: Bool = false) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("projects") { db in
            try db.create(table: "project") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("due", .date)
                t.column("isDraft", .boolean).notNull().defaults(to: true)
                if withLooks {
                    t.column("accent", .text)
                    t.column("banner", .text)
                }
            }
        }
        migrator.registerMigration("tasks") { db in
            try db.create(table: "task") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("projectId", .integer).notNull().indexed().references("project", onDelete: .cascade)
                t.column("name", .text).notNull()
                t.column("isDone", .boolean).notNull().defaults(to: false)
            }
        }
        return migrator
    }

    struct Project: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String
        var due: Date?
        var isDraft = false

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    /// Its name hides that of Swift's own tasks, as in an app whose subject are tasks.
    struct Task: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var projectId: Int64
        var name: String
        var isDone = false

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct StyledProject: Equatable {
        var id: Int64?
        var name: String
        var due: Date?
        var look: Look
    }

    struct Look: Equatable, Sendable {
        var color: String?
        var banner: String?
    }
}

// The protocols that a record has already may be named again.
extension Planner.Project: TableRecord, EncodableRecord {
    static let tasks = hasMany(Planner.Task.self)

    enum Columns {
        static let isDraft = Column(CodingKeys.isDraft)
    }

    var tasks: QueryInterfaceRequest<Planner.Task> { request(for: Self.tasks) }

    static func drafts() -> QueryInterfaceRequest<Self> { filter(Columns.isDraft == true) }

    @discardableResult
    static func make(
        _ db: Database, _ name: String, isDraft: Bool = false, tasks: [String] = []
    ) throws -> Self {
        var project = Self(name: name, isDraft: isDraft)
        try project.insert(db)
        for task in tasks { _ = try project.add(db, task) }
        return project
    }

    func add(_ db: Database, _ task: String) throws -> Planner.Task {
        try Planner.Task(projectId: #require(id), name: task).inserted(db)
    }
}

extension Planner.Task: TableRecord, EncodableRecord {
    static let project = belongsTo(Planner.Project.self)

    var project: QueryInterfaceRequest<Planner.Project> { request(for: Self.project) }
}

extension Planner.StyledProject: TableRecord, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "project"

    enum Columns: String, ColumnExpression {
        case id, name, due, accent, banner
    }

    init(row: Row) {
        id = row[Columns.id]
        name = row[Columns.name]
        due = row[Columns.due]
        look = Planner.Look(color: row[Columns.accent], banner: row[Columns.banner])
    }

    func encode(to container: inout PersistenceContainer) {
        container[Columns.id] = id
        container[Columns.name] = name
        container[Columns.due] = due
        container[Columns.accent] = look.color
        container[Columns.banner] = look.banner
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A screen that lists the tasks of a project, as a view controller would.
@MainActor private final class TaskScreen {
    private var observer: AnyDatabaseCancellable?
    private var waiting: (() -> Void)?
    private(set) var shown: [[String]] = []
    private(set) var failure: (any Error)?

    func open(_ project: Planner.Project, in queue: DatabaseQueue) {
        let observation = ValueObservation.tracking { db in
            try project.tasks.fetchAll(db)
        }
        observer = observation.start(in: queue, onError: fail(_:), onChange: show(_:))
    }

    func close() { observer = nil }

    /// Waits until what is shown last is right.
    func waits(until isRight: ([String]) -> Bool) async {
        while !(shown.last.map(isRight) ?? false) { await change() }
    }

    func waitsForFailure() async {
        while failure == nil { await change() }
    }

    private func show(_ tasks: [Planner.Task]) {
        shown.append(tasks.map(\.name))
        waiting?()
    }

    private func fail(_ error: any Error) {
        failure = error
        waiting?()
    }

    private func change() async {
        await withCheckedContinuation { continuation in
            waiting = { [weak self] in
                self?.waiting = nil
                continuation.resume()
            }
        }
    }
}
