#if canImport(SwiftUI)
    import SwiftUI

    // The values are observable objects of their own, so a view that reads one is drawn again when it changes. What
    // SwiftUI has to keep for a view is the box, which the copies of a wrapper share.

    extension Fetch: DynamicProperty {}
    extension FetchAll: DynamicProperty {}
    extension FetchOne: DynamicProperty {}
#endif
