import CipherData
import Foundation

/// Something to do somewhere.
@Table struct Errand: Identifiable, Equatable {
    let id: Int
    var title = ""
    var place: String?
    var due: Int?
}

/// Who does it.
@Table struct Helper: Identifiable, Equatable {
    let id: Int
    var name = ""
    var errandID: Errand.ID?
}

/// An encrypted database with errands, which goes with its folder.
struct ErrandStore {
    let folder: TestFolder
    let database: any DatabaseWriter

    init() throws {
        folder = try TestFolder()
        database = try DatabasePool(path: folder.file("errands.db"), configuration: .encrypted)
        try database.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE errands (id INTEGER PRIMARY KEY, title TEXT NOT NULL, place TEXT, due INTEGER);
                    CREATE TABLE helpers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, errandID INTEGER);
                    """)
            try Errand.insert {
                Errand(id: 1, title: "a", place: "Work", due: 3)
                Errand(id: 2, title: "b", place: "Home")
                Errand(id: 3, title: "c", place: "Work", due: 5)
                Errand(id: 4, title: "d")
            }.execute(db)
            try Helper.insert {
                Helper(id: 1, name: "Ann", errandID: 1)
                Helper(id: 2, name: "Bob", errandID: 2)
            }.execute(db)
        }
    }
}
