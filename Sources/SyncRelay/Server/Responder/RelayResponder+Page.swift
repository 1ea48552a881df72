import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SyncHTTP

/// The relay's own page, for whoever runs it.
extension RelayResponder {
    /// What the page is made of.
    enum PagePart: String {
        case html
        case style = "page.css"
        case script = "page.js"
        /// What it shows.
        case state
    }

    /// How often the page is answered. It has a bound of its own, so that it can be looked at while clients ask too much.
    static func pageRates(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> RelayRates {
        RelayRates(
            perSecond: 20, burst: 100, "the page is loaded too often; try again in a moment", now: now)
    }

    func page(_ part: PagePart) async throws -> Response {
        switch part {
        case .html: text("text/html", RelayPage.html)
        case .style: text("text/css", RelayPage.css)
        case .script: text("text/javascript", RelayPage.script)
        case .state: try document(await pageReader.document())
        }
    }

    private func text(_ type: String, _ text: String) -> Response {
        octets(Array(text.utf8), "\(type); charset=utf-8")
    }
}
