import CipherStore
import Foundation

/// Something to do.
struct Note: Codable, Identifiable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    /// A UUID, so that two devices never give one key to two notes.
    var id = UUID.v7()
    var title: String
    var isDone = false

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let isDone = Column(CodingKeys.isDone)
    }

    /// All notes: what is open first, and the older ones before the newer ones.
    static func inOrder() -> QueryInterfaceRequest<Note> {
        Note.order(Columns.isDone, Columns.id)
    }
}
